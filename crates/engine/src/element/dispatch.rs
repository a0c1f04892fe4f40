//! `elements!`: generates three enums from the list of elements: their parameters, elements in operation, and what
//! conditions name. Dispatch is a `match`, not a virtual call: elements are few, calls are many.

/// See the module.
macro_rules! elements {
    (
        elements { $($element:ident: $spec:ty => $behaviour:ty,)* }
        placed { $($placed:ident: $placed_spec:ty => $placed_behaviour:ty,)* }
        parameters { $($named:ident: $parameters:ty,)* }
    ) => {
        elements! {
            @engine $($element: $spec => $behaviour,)* $($placed: $placed_spec => $placed_behaviour,)*
        }
        elements!(@conditions { $($element: $spec,)* } { $($named: $parameters,)* });
    };

    (@engine $($element:ident: $spec:ty => $behaviour:ty,)*) => {
        /// The parameters of an element. The file of each element is its manual page.
        #[derive(Clone, PartialEq, Eq, Debug)]
        #[allow(missing_docs)] // Each is explained by its parameters.
        pub enum ElementSpec {
            $($element($spec),)*
        }

        impl ElementSpec {
            /// The element's kind, as conditions name it.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(ElementSpec::$element(spec) => Spec::kind(spec),)*
                }
            }

            /// Whether packets wait in it for a transmitter or for tokens, so that a monitor can measure its queue.
            pub fn queues(&self) -> bool {
                match self {
                    $(ElementSpec::$element(_) => <$spec as Spec>::QUEUES,)*
                }
            }

            /// All errors of the parameters.
            pub fn problems(&self) -> Vec<Problem> {
                match self {
                    $(ElementSpec::$element(spec) => Spec::problems(spec),)*
                }
            }
        }

        /// An element in operation. The kind is read for every packet, so it is in a byte of its own, not in a value
        /// that another field does not use.
        #[repr(u8)]
        pub(crate) enum Element {
            $($element($behaviour),)*
        }

        impl Element {
            /// `spec` has been checked; `random` is the element's own stream.
            pub(crate) fn new(spec: &ElementSpec, random: Stream) -> Element {
                match spec {
                    $(ElementSpec::$element(spec) => Element::$element(Behaviour::new(spec, random)),)*
                }
            }

            /// As [`Behaviour::reconfigure`].
            pub(crate) fn reconfigure(&mut self, spec: &ElementSpec, context: &mut Context<'_>) {
                match (self, spec) {
                    $((Element::$element(element), ElementSpec::$element(spec)) => {
                        Behaviour::reconfigure(element, spec, context)
                    })*
                    _ => unreachable!("the kinds are equal"),
                }
            }

            /// Whether packets wait in it for a transmitter or for tokens, so that a monitor can measure its queue.
            pub(crate) fn has_queue(&self) -> bool {
                match self {
                    $(Element::$element(_) => <$spec as Spec>::QUEUES,)*
                }
            }

            /// Whether packets wait in its delay line ([`Behaviour::LINE_IS_QUEUE`]).
            pub(crate) fn line_is_queue(&self) -> bool {
                match self {
                    $(Element::$element(_) => <$behaviour as Behaviour>::LINE_IS_QUEUE,)*
                }
            }
        }

        elements! { @each $($element: $behaviour,)*;
            #[inline(always)]
            mut arrive [slot: SlotId, context: &mut Context<'_>] [slot, context] -> Verdict;
            #[inline]
            mut wake_shaper [context: &mut Context<'_>] [context] -> Option<(SlotId, Verdict)>;
            #[inline]
            mut wake_line [context: &mut Context<'_>] [context] -> Option<SlotId>;
            #[inline]
            mut wake_transmitter [context: &mut Context<'_>] [context] -> ();
            mut catch_up [context: &mut Context<'_>] [context] -> ();
            mut set_watched [watched: bool, context: &mut Context<'_>] [watched, context] -> ();
            mut begin [now: Instant] [now] -> ();
            mut reset [now: Instant] [now] -> ();
            mut monitor_mut [] [] -> Option<&mut Monitor>;
            mut link_mut [] [] -> Option<&mut Link>;
        }
        elements! { @each $($element: $behaviour,)*;
            ref treats_alike [now: Instant] [now] -> bool;
            ref holds_at_least [] [] -> Duration;
            ref queued_bytes [class: Class] [class] -> u64;
            ref waits [] [] -> bool;
            ref serving [] [] -> Option<SlotId>;
            ref kind [] [] -> &'static str;
            ref credit [now: Instant] [now] -> Option<CreditLevel>;
            ref monitor [] [] -> Option<&Monitor>;
            ref link [] [] -> Option<&Link>;
        }
    };

    // Methods that call the element's own. Their arguments are in brackets, twice: with types, and as they are passed
    // on.
    (@each $($element:ident: $behaviour:ty,)*; ) => {};
    (@each $($element:ident: $behaviour:ty,)*;
        $(#[$attribute:meta])*
        mut $method:ident [$($argument:ident: $type:ty),*] $handed:tt -> $returns:ty;
        $($rest:tt)*
    ) => {
        impl Element {
            /// As the method of [`Behaviour`].
            $(#[$attribute])*
            pub(crate) fn $method(&mut self $(, $argument: $type)*) -> $returns {
                match self {
                    $(Element::$element(element) => elements!(@call $method element $handed),)*
                }
            }
        }
        elements! { @each $($element: $behaviour,)*; $($rest)* }
    };
    (@each $($element:ident: $behaviour:ty,)*;
        ref $method:ident [$($argument:ident: $type:ty),*] $handed:tt -> $returns:ty;
        $($rest:tt)*
    ) => {
        impl Element {
            /// As the method of [`Behaviour`].
            pub(crate) fn $method(&self $(, $argument: $type)*) -> $returns {
                match self {
                    $(Element::$element(element) => elements!(@call $method element $handed),)*
                }
            }
        }
        elements! { @each $($element: $behaviour,)*; $($rest)* }
    };
    (@call $method:ident $element:ident [$($handed:ident),*]) => { Behaviour::$method($element, $($handed),*) };

    (@conditions { $($element:ident: $spec:ty,)* } { $($named:ident: $parameters:ty,)* }) => {
        elements!(@treatment { $($element: $spec,)* $($named: $parameters,)* });

        impl Treatment {
            /// The engine's element, if it needs no other information.
            pub fn element(&self) -> Option<ElementSpec> {
                match self {
                    $(Treatment::$element(spec) => Some(ElementSpec::$element(spec.clone())),)*
                    $(Treatment::$named(_) => None,)*
                }
            }
        }
    };

    (@treatment { $($named:ident: $parameters:ty,)* }) => {
        /// What a condition names, with its parameters.
        #[derive(Clone, PartialEq, Eq, Debug)]
        #[allow(missing_docs)] // Each is explained by its parameters.
        pub enum Treatment {
            $($named($parameters),)*
        }

        impl Treatment {
            /// Every kind, as conditions name it.
            pub const KINDS: &'static [&'static str] = &[$(<$parameters as Described>::MANUAL.kind),*];

            /// The parameters of a kind, from resolved JSON.
            ///
            /// # Errors
            /// All errors of the parameters.
            pub fn read(kind: &str, parameters: Object) -> Result<Treatment, Vec<Problem>> {
                $(if kind == <$parameters as Described>::MANUAL.kind {
                    return <$parameters as Parameters>::read(parameters).map(Treatment::$named);
                })*
                let kinds = Treatment::KINDS.join(", ");
                Err(alloc::vec![Problem::new(format!("{kind} is no element; elements are {kinds}"))])
            }

            /// Random parameters of a kind, valid by themselves; `None` for an unknown kind.
            pub fn sample(kind: &str, sampler: &mut Sampler) -> Option<Treatment> {
                $(if kind == <$parameters as Described>::MANUAL.kind {
                    return Some(Treatment::$named(<$parameters as Parameters>::sample(sampler)));
                })*
                None
            }

            /// As in resolved JSON: an object with its kind.
            pub fn to_json(&self) -> Json {
                match self {
                    $(Treatment::$named(parameters) => {
                        json!({<$parameters as Described>::MANUAL.kind: parameters})
                    })*
                }
            }

            /// Writes its parameters into an object.
            ///
            /// The errors of the object.
            /// Those of the object.
            pub fn put_into<M: SerializeMap>(&self, object: &mut M) -> Result<(), M::Error> {
                match self {
                    $(Treatment::$named(parameters) => parameters.put_into(object),)*
                }
            }

            /// Its description apart from its parameters.
            pub fn manual(&self) -> Manual {
                match self {
                    $(Treatment::$named(_) => <$parameters as Described>::MANUAL,)*
                }
            }

            /// The kind under which the engine shows it.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Treatment::$named(parameters) => Described::kind(parameters),)*
                }
            }

            /// The description of its parameters.
            pub fn parameters(&self) -> Vec<Parameter> {
                match self {
                    $(Treatment::$named(_) => <$parameters as Parameters>::parameters(),)*
                }
            }

            /// Rules between its parameters.
            pub fn rules(&self) -> Vec<Rule> {
                match self {
                    $(Treatment::$named(_) => <$parameters as Parameters>::rules(),)*
                }
            }

            /// The value of that name in resolved JSON; `None` for types with their own form.
            pub fn value(&self, name: &str) -> Option<Json> {
                match self {
                    $(Treatment::$named(parameters) => parameters.value(name),)*
                }
            }

            /// All errors of its parameters.
            pub fn problems(&self) -> Vec<Problem> {
                match self {
                    $(Treatment::$named(parameters) => Parameters::problems(parameters),)*
                }
            }

            /// The descriptions of all kinds.
            pub fn descriptions() -> Json {
                json!({"format": 1, "elements": [$(description::<$parameters>()),*]})
            }
        }
    };
}
pub(super) use elements;
