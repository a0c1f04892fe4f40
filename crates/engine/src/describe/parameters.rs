//! `parameters!`: a struct of parameters; it generates the description, the reader and the writer.
//!
//! Each field has its description after `=`. `[Parameter::rate("rate", "rate_bps")]` is a parameter whose meaning is
//! the field's doc comment. With `flat`, the field's own parameters are among those of the struct. With `(flat
//! function)`, `function` describes them from the doc comment.

use alloc::vec::Vec;

use serde::ser::{Serialize, SerializeMap};

use super::{problems_of, verify_object, Json, Object, Parameter, Problem, Rule, Sampler};

/// A set of parameters with a description.
pub trait Parameters: Sized + Serialize {
    /// Their meaning.
    const ABOUT: &'static str;

    /// Their description, in the order of resolved JSON.
    fn parameters() -> Vec<Parameter>;

    /// Rules between them.
    fn rules() -> Vec<Rule>;

    /// Removes them from an object that fits the description.
    ///
    /// # Errors
    /// Errors that the description cannot express.
    fn take_from(object: &mut Object) -> Result<Self, Problem>;

    /// Writes them into an object.
    ///
    /// # Errors
    /// The errors of the object.
    fn put_into<M: SerializeMap>(&self, object: &mut M) -> Result<(), M::Error>;

    /// The value of that name in resolved JSON; `None` for types with their own form.
    fn value(&self, name: &str) -> Option<Json>;

    /// Errors of values with their own form.
    fn problems_inside(&self, wrong: &mut Vec<Problem>);

    /// All errors of the values.
    fn problems(&self) -> Vec<Problem> {
        let mut wrong = problems_of(&Self::parameters(), &Self::rules(), &|name| self.value(name));
        self.problems_inside(&mut wrong);
        wrong
    }

    /// Reads them from resolved JSON.
    ///
    /// # Errors
    /// All errors.
    fn read(mut object: Object) -> Result<Self, Vec<Problem>> {
        let wrong = verify_object(&object, &Self::parameters(), &Self::rules());
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let read = Self::take_from(&mut object).map_err(|problem| alloc::vec![problem])?;
        let mut wrong = Vec::new();
        read.problems_inside(&mut wrong);
        if wrong.is_empty() {
            Ok(read)
        } else {
            Err(wrong)
        }
    }

    /// Random valid ones.
    fn sample(sampler: &mut Sampler) -> Self {
        sampler.sound(&Self::parameters(), &Self::rules(), Self::read)
    }
}

/// See the module.
macro_rules! parameters {
    (
        $(#[doc = $about:literal])*
        #[derive($($derive:ident),* $(,)?)]
        pub struct $name:ident {
            $($(#[doc = $doc:literal])* $field:ident: $type:ty = $how:tt,)*
        }
        $(rules: $rules:expr)?
    ) => {
        $(#[doc = $about])*
        #[derive($($derive),*)]
        pub struct $name {
            $($(#[doc = $doc])* pub $field: $type,)*
        }

        impl $crate::describe::Parameters for $name {
            const ABOUT: &'static str = concat!($($about),*);

            fn parameters() -> alloc::vec::Vec<$crate::describe::Parameter> {
                [$($crate::describe::parameters!(@describe $type, $how, concat!($($doc),*))),*].concat()
            }

            fn rules() -> alloc::vec::Vec<$crate::describe::Rule> {
                #[allow(unused_mut)]
                let mut all: alloc::vec::Vec<$crate::describe::Rule> = alloc::vec::Vec::new();
                $(all.extend($rules);)?
                $($crate::describe::parameters!(@rules all, $type, $how);)*
                all
            }

            fn take_from(
                object: &mut $crate::describe::Object,
            ) -> Result<Self, $crate::describe::Problem> {
                Ok($name { $($field: $crate::describe::parameters!(@take object, $type, $how),)* })
            }

            fn put_into<M: serde::ser::SerializeMap>(&self, object: &mut M) -> Result<(), M::Error> {
                $($crate::describe::parameters!(@put object, self.$field, $how);)*
                Ok(())
            }

            fn value(&self, name: &str) -> Option<$crate::describe::Json> {
                $($crate::describe::parameters!(@value name, self.$field, $how);)*
                None
            }

            fn problems_inside(&self, wrong: &mut alloc::vec::Vec<$crate::describe::Problem>) {
                $($crate::describe::parameters!(@problems wrong, self.$field, $how);)*
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut object = serializer.serialize_map(None)?;
                $crate::describe::Parameters::put_into(self, &mut object)?;
                object.end()
            }
        }
    };

    (@describe $type:ty, [$parameter:expr], $about:expr) => {
        alloc::vec![$parameter.about($about)]
    };
    (@describe $type:ty, flat, $about:expr) => {
        <$type as $crate::describe::Parameters>::parameters()
    };
    (@describe $type:ty, (flat $described:expr), $about:expr) => {
        $described($about)
    };

    (@rules $all:ident, $type:ty, [$parameter:expr]) => {};
    (@rules $all:ident, $type:ty, $flat:tt) => {
        $all.extend(<$type as $crate::describe::Parameters>::rules())
    };

    (@take $object:ident, $type:ty, [$parameter:expr]) => {
        <$type as $crate::describe::Value>::take($object, &$parameter)?
    };
    (@take $object:ident, $type:ty, $flat:tt) => {
        <$type as $crate::describe::Parameters>::take_from($object)?
    };

    (@put $object:ident, $it:expr, [$parameter:expr]) => {
        $crate::describe::Value::put(&$it, &$parameter, $object)?
    };
    (@put $object:ident, $it:expr, $flat:tt) => {
        $crate::describe::Parameters::put_into(&$it, $object)?
    };

    (@value $name:ident, $it:expr, [$parameter:expr]) => {
        let parameter = $parameter;
        if parameter.name == $name {
            return serde_json::to_value(&$it).ok();
        }
    };
    (@value $name:ident, $it:expr, $flat:tt) => {
        if let Some(value) = $crate::describe::Parameters::value(&$it, $name) {
            return Some(value);
        }
    };

    (@problems $wrong:ident, $it:expr, [$parameter:expr]) => {
        let parameter = $parameter;
        // The others have been checked against their description.
        if matches!(parameter.values, $crate::describe::Type::Named { .. }) {
            let inside = $crate::describe::Value::problems(&$it);
            $wrong.extend(inside.into_iter().map(|problem| problem.inside(parameter.name)));
        }
    };
    (@problems $wrong:ident, $it:expr, $flat:tt) => {
        $crate::describe::Parameters::problems_inside(&$it, $wrong)
    };
}
pub(crate) use parameters;
