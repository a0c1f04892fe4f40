//! `choice!`: an enum whose variants are words, with or without parameters; it generates the description, the reader
//! and the writer.
//!
//! `Red(RedSpec) = "red" at Some(page!("red.rs"))`: the word, and the page that explains it, if there is one. A word
//! with parameters is `{"red": {...}}` in JSON and has its parameters' explanation; a word without is "tail" and has
//! its comment's. A word `in bare` form has one parameter, which files write instead of the mapping. `titled` names
//! its section of the reference if its variant does not.

/// See the module.
macro_rules! choice {
    (
        $(#[doc = $about:literal])*
        #[derive($($derive:ident),* $(,)?)]
        pub enum $name:ident: $title:literal {
            $($(#[doc = $doc:literal])* $variant:ident $(($inner:ty))? = $word:literal $(in $bare:ident)? $(titled $title_of:literal)? $(at $page:expr)?,)*
        }
    ) => {
        $(#[doc = $about])*
        #[derive($($derive),*)]
        #[allow(missing_docs)] // A word with parameters has their explanation.
        pub enum $name {
            $($(#[doc = $doc])* $variant $(($inner))?,)*
        }

        impl $name {
            /// Its words with their parameters.
            #[allow(dead_code)] // Not every choice uses this.
            pub(crate) fn values() -> $crate::describe::Type {
                let variants = alloc::vec![$(
                    $crate::describe::Variant {
                        word: $word,
                        $(page: $page,)?
                        $(bare: $crate::describe::choice!(@bare $bare),)?
                        $(title: $title_of,)?
                        ..$crate::describe::choice!(@described $variant concat!($($doc),*) $(, $inner)?)
                    }
                ),*];
                if variants.iter().all(|variant| variant.parameters.is_empty() && variant.page.is_none()) {
                    return $crate::describe::Type::Words(variants.iter().map(|variant| variant.word).collect());
                }
                let about = concat!($($about),*);
                $crate::describe::Type::Choice($crate::describe::Choice { title: $title, about, variants })
            }

            /// The word.
            #[allow(dead_code)] // Not every choice uses this.
            pub const fn word(&self) -> &'static str {
                match self {
                    $($crate::describe::choice!(@pattern $name $variant $(, $inner)?) => $word,)*
                }
            }
        }

        impl $crate::describe::Value for $name {
            fn from_json(json: &$crate::describe::Json) -> Result<Self, $crate::describe::Problem> {
                let (word, parameters) = match json {
                    $crate::describe::Json::String(word) => (word.as_str(), None),
                    $crate::describe::Json::Object(object) if object.len() == 1 => {
                        let (word, parameters) = object.iter().next().expect("one");
                        (word.as_str(), Some(parameters))
                    }
                    _ => ("", None),
                };
                $(if word == $word {
                    return $crate::describe::choice!(@read $name $variant parameters $(, $inner)?);
                })*
                let words = [$($word),*].join(", ");
                Err($crate::describe::Problem::new(alloc::format!("{json} is none of {words}")))
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $($crate::describe::choice!(@write $name $variant self serializer $word $(, $inner)?);)*
                unreachable!("every word is handled")
            }
        }
    };

    (@described $variant:ident $about:expr) => {
        $crate::describe::Variant {
            word: "",
            about: $about.trim(),
            page: None,
            title: "",
            parameters: alloc::vec::Vec::new(),
            rules: alloc::vec::Vec::new(),
            bare: false,
        }
    };
    (@described $variant:ident $about:expr, $inner:ty) => {
        $crate::describe::Variant {
            word: "",
            about: <$inner as $crate::describe::Parameters>::ABOUT.trim(),
            page: None,
            title: stringify!($variant),
            parameters: <$inner as $crate::describe::Parameters>::parameters(),
            rules: <$inner as $crate::describe::Parameters>::rules(),
            bare: false,
        }
    };

    (@bare bare) => { true };

    (@pattern $name:ident $variant:ident) => { $name::$variant };
    (@pattern $name:ident $variant:ident, $inner:ty) => { $name::$variant(_) };

    (@read $name:ident $variant:ident $parameters:ident) => {
        match $parameters {
            None => Ok($name::$variant),
            Some(_) => Err($crate::describe::Problem::new("has no parameters; write the word alone")),
        }
    };
    (@read $name:ident $variant:ident $parameters:ident, $inner:ty) => {
        <$inner as $crate::describe::Value>::from_json($parameters.unwrap_or(&$crate::describe::Json::Null))
            .map($name::$variant)
    };

    (@write $name:ident $variant:ident $self:ident $serializer:ident $word:literal) => {
        if let $name::$variant = $self {
            return $serializer.serialize_str($word);
        }
    };
    (@write $name:ident $variant:ident $self:ident $serializer:ident $word:literal, $inner:ty) => {
        if let $name::$variant(inner) = $self {
            use serde::ser::SerializeMap;
            let mut object = $serializer.serialize_map(Some(1))?;
            object.serialize_entry($word, inner)?;
            return object.end();
        }
    };
}
pub(crate) use choice;
