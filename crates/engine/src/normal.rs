//! The standard normal distribution: its distribution function and the inverse, to about 16 digits, in software
//! arithmetic.
//!
//! Source: Wichura 1988, "Algorithm AS 241: the percentage points of the normal distribution" (PPND16).
#![allow(clippy::excessive_precision)] // Coefficients are written as published, so that they can be compared.

/// The probability of a value up to `x`, in [0, 1].
pub(crate) fn probability(x: f64) -> f64 {
    0.5 * libm::erfc(-x * core::f64::consts::FRAC_1_SQRT_2)
}

/// The value up to which the probability is `p`, in (0, 1).
pub(crate) fn quantile(p: f64) -> f64 {
    let from_median = p - 0.5;
    if from_median.abs() <= 0.425 {
        let r = 0.180_625 - from_median * from_median;
        return from_median * polynomial(&CENTRE_ABOVE, r) / polynomial(&CENTRE_BELOW, r);
    }
    let tail = if from_median < 0.0 { p } else { 1.0 - p };
    let r = libm::sqrt(-libm::log(tail));
    let distance = if r <= 5.0 {
        polynomial(&MIDDLE_ABOVE, r - 1.6) / polynomial(&MIDDLE_BELOW, r - 1.6)
    } else {
        polynomial(&FAR_ABOVE, r - 5.0) / polynomial(&FAR_BELOW, r - 5.0)
    };
    if from_median < 0.0 {
        -distance
    } else {
        distance
    }
}

/// The first coefficient is that of the highest power (Horner's rule).
fn polynomial(coefficients: &[f64; 8], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

const CENTRE_ABOVE: [f64; 8] = [
    2.509_080_928_730_122_672_7e3,
    3.343_057_558_358_812_810_5e4,
    6.726_577_092_700_870_085_3e4,
    4.592_195_393_154_987_145_7e4,
    1.373_169_376_550_946_112_5e4,
    1.971_590_950_306_551_442_7e3,
    1.331_416_678_917_843_774_5e2,
    3.387_132_872_796_366_608,
];
const CENTRE_BELOW: [f64; 8] = [
    5.226_495_278_852_854_561e3,
    2.872_908_573_572_194_267_4e4,
    3.930_789_580_009_271_061e4,
    2.121_379_430_158_659_586_7e4,
    5.394_196_021_424_751_107_7e3,
    6.871_870_074_920_579_083e2,
    4.231_333_070_160_091_125_2e1,
    1.0,
];
const MIDDLE_ABOVE: [f64; 8] = [
    7.745_450_142_783_414_076_4e-4,
    2.272_384_498_926_918_458_33e-2,
    2.417_807_251_774_506_117_7e-1,
    1.270_458_252_452_368_382_58,
    3.647_848_324_763_204_605_04,
    5.769_497_221_460_691_405_5,
    4.630_337_846_156_545_295_9,
    1.423_437_110_749_683_577_34,
];
const MIDDLE_BELOW: [f64; 8] = [
    1.050_750_071_644_416_843_24e-9,
    5.475_938_084_995_344_946e-4,
    1.519_866_656_361_645_719_66e-2,
    1.481_039_764_274_800_745_9e-1,
    6.897_673_349_851_000_045_5e-1,
    1.676_384_830_183_803_849_4,
    2.053_191_626_637_758_821_87,
    1.0,
];
const FAR_ABOVE: [f64; 8] = [
    2.010_334_399_292_288_132_65e-7,
    2.711_555_568_743_487_578_15e-5,
    1.242_660_947_388_078_438_6e-3,
    2.653_218_952_657_612_309_3e-2,
    2.965_605_718_285_048_912_3e-1,
    1.784_826_539_917_291_335_8,
    5.463_784_911_164_114_369_9,
    6.657_904_643_501_103_777_2,
];
const FAR_BELOW: [f64; 8] = [
    2.044_263_103_389_939_785_64e-15,
    1.421_511_758_316_445_888_7e-7,
    1.846_318_317_510_054_681_8e-5,
    7.868_691_311_456_132_591e-4,
    1.487_536_129_085_061_485_25e-2,
    1.369_298_809_227_358_053_1e-1,
    5.998_322_065_558_879_376_9e-1,
    1.0,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_reference_values() {
        // From SciPy 1.16, scipy.stats.norm.ppf.
        for (p, x) in [
            (0.5, 0.0),
            (0.6, 0.253_347_103_135_799_7),
            (0.975, 1.959_963_984_540_054),
            (0.001, -3.090_232_306_167_813_5),
            (1e-12, -7.034_483_825_301_132),
            (1e-15, -7.941_345_326_170_997),
        ] {
            assert!((quantile(p) - x).abs() <= 4e-15 * x.abs(), "{p}: {}", quantile(p));
        }
    }

    #[test]
    fn probability_is_the_inverse_of_quantile() {
        for step in 1..1000 {
            let p = f64::from(step) / 1000.0;
            assert!((probability(quantile(p)) - p).abs() < 1e-15, "{p}");
        }
    }
}
