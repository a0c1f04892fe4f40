//! `drop_policies!`: generates two enums from the list of drop policies: their parameters, and policies in operation
//! with their dispatch. Dispatch is a `match`, not a virtual call.

/// See the module. A line has the file, its module, the policy in it with its parameters, and its word.
macro_rules! drop_policies {
    ($($(#[doc = $doc:literal])* $file:literal $module:ident::$policy:ident $(($spec:ident))? = $word:literal,)*) => {
        $(#[path = $file] pub(crate) mod $module;)*

        /// The parameters of drop policies.
        pub mod policies {
            $($(pub use super::$module::$spec;)?)*
        }

        choice! {
            /// A policy that acts before the buffer is full: a mapping with one key, the policy's name.
            #[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
            pub enum DropSpec: "EarlyDrop" {
                $($(#[doc = $doc])* $policy $(($module::$spec))? = $word at <$module::$policy as DropPolicy>::PAGE,)*
            }
        }

        impl DropSpec {
            /// Whether it signals congestion before the buffer is full, and so can mark packets.
            pub const fn signals_early(self) -> bool {
                match self {
                    $(drop_policies!(@any $policy $($spec)?) => <$module::$policy as DropPolicy>::IS_EARLY,)*
                }
            }

            /// Whether its queue can be part of a memory.
            pub(crate) const fn can_share(self) -> bool {
                match self {
                    $(drop_policies!(@any $policy $($spec)?) => <$module::$policy as DropPolicy>::CAN_SHARE,)*
                }
            }

            /// The words of policies that signal early.
            pub(crate) fn early_words() -> Vec<&'static str> {
                let early = [$(($word, <$module::$policy as DropPolicy>::IS_EARLY)),*];
                early.into_iter().filter(|(_, is_early)| *is_early).map(|(word, _)| word).collect()
            }

            /// The words of policies that can share a memory.
            pub(crate) fn sharing_words() -> Vec<&'static str> {
                let sharing = [$(($word, <$module::$policy as DropPolicy>::CAN_SHARE)),*];
                sharing.into_iter().filter(|(_, can_share)| *can_share).map(|(word, _)| word).collect()
            }
        }

        /// A drop policy in operation.
        pub(crate) enum Policy {
            $($policy($module::$policy),)*
        }

        impl Policy {
            /// `spec` has been checked; `rate` empties the buffer.
            pub(crate) fn new(spec: &DropSpec, buffer: &Buffer, rate: Rate) -> Policy {
                match spec {
                    $(drop_policies!(@bound $policy spec $($spec)?) => {
                        Policy::$policy(DropPolicy::new(drop_policies!(@given spec $($spec)?), buffer, rate))
                    })*
                }
            }

            /// Whether it depends only on what waits now.
            #[inline]
            pub(crate) fn is_stateless(&self) -> bool {
                match self {
                    $(Policy::$policy(_) => !<$module::$policy as DropPolicy>::IS_EARLY,)*
                }
            }

            /// The reason for packets that it drops on arrival.
            pub(crate) fn reason(&self) -> DropReason {
                match self {
                    $(Policy::$policy(_) => <$module::$policy as DropPolicy>::REASON,)*
                }
            }

            /// The rate that empties the buffer has changed.
            pub(crate) fn set_rate(&mut self, buffer: &Buffer, rate: Rate) {
                match self {
                    $(Policy::$policy(policy) => policy.set_rate(buffer, rate),)*
                }
            }

            /// Decides about a packet that arrives at the buffer.
            #[inline]
            pub(crate) fn at_arrival(
                &mut self,
                packet: &Packet,
                buffer: &Buffer,
                now: Instant,
                random: &mut Stream,
            ) -> Detected {
                match self {
                    $(Policy::$policy(policy) => policy.at_arrival(packet, buffer, now, random),)*
                }
            }

            /// Makes room for a packet, or changes nothing if it cannot.
            pub(crate) fn make_room(
                &mut self,
                slot: SlotId,
                buffer: &mut Buffer,
                context: &mut Context<'_>,
            ) -> Result<(), DropReason> {
                match self {
                    $(Policy::$policy(policy) => policy.make_room(slot, buffer, context),)*
                }
            }

            /// A packet will wait in the buffer.
            #[inline]
            pub(crate) fn entered(&mut self, packet: &Packet, buffer: &Buffer) {
                match self {
                    $(Policy::$policy(policy) => policy.entered(packet, buffer),)*
                }
            }

            /// Takes the packet that leaves now, after dropping packets that must go before it.
            #[inline]
            pub(crate) fn take(
                &mut self,
                buffer: &mut Buffer,
                signal: Signal,
                context: &mut Context<'_>,
            ) -> Option<SlotId> {
                match self {
                    $(Policy::$policy(policy) => policy.take(buffer, signal, context),)*
                }
            }

            /// The last packet has left the buffer.
            #[inline]
            pub(crate) fn emptied(&mut self, now: Instant) {
                match self {
                    $(Policy::$policy(policy) => policy.emptied(now),)*
                }
            }
        }
    };

    (@any $policy:ident) => { DropSpec::$policy };
    (@any $policy:ident $spec:ident) => { DropSpec::$policy(_) };
    (@bound $policy:ident $bound:ident) => { DropSpec::$policy };
    (@bound $policy:ident $bound:ident $spec:ident) => { DropSpec::$policy($bound) };
    (@given $bound:ident) => { &() };
    (@given $bound:ident $spec:ident) => { $bound };
}
pub(super) use drop_policies;
