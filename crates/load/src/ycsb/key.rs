//! From the number of a key to its name: `user` and the number's FNV hash, so that neighbours are strewn over the store.
//!
//! Source: YCSB 0.17.0, `CoreWorkload.buildKeyName` with `insertorder=hashed`, and `Utils.fnvhash64`.

/// The name of a key.
pub fn name(number: u64) -> String {
    format!("user{}", hash(number))
}

/// FNV-1 with the order of YCSB (which exclusive-ors first, so it is FNV-1a), made non-negative as Java's `Math.abs` does.
pub fn hash(number: u64) -> u64 {
    const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 1_099_511_628_211;
    let hashed = number
        .to_le_bytes()
        .iter()
        .fold(OFFSET_BASIS, |hash, &octet| (hash ^ u64::from(octet)).wrapping_mul(PRIME));
    (hashed as i64).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_ycsb() {
        // The first rows that YCSB itself loads.
        assert_eq!(name(0), "user6284781860667377211");
        assert_eq!(name(1), "user8517097267634966620");
    }
}
