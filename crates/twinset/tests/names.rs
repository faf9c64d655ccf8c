//! Enums whose values have names.

use std::fmt::Debug;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use serde_json::{from_value, json};
use strum::{EnumMessage, VariantArray};
use twinset::exact::Algorithm;
use twinset::tokenize::{Language, Repeats};
use twinset::{Error, Link, Measure, Method};

/// Every name and alias means the same as text and in JSON.
#[track_caller]
fn check<T: VariantArray + EnumMessage + FromStr<Err = Error> + DeserializeOwned + Copy + PartialEq + Debug>() {
    for &variant in T::VARIANTS {
        for name in variant.get_serializations() {
            assert_eq!(name.parse(), Ok(variant));
            assert_eq!(from_value::<T>(json!(name)).unwrap(), variant);
        }
    }
}

#[test]
fn names_are_the_same_as_text_and_in_json() {
    check::<Algorithm>();
    check::<Language>();
    check::<Link>();
    check::<Measure>();
    check::<Method>();
    check::<Repeats>();
}

#[test]
fn an_unknown_name_is_answered_with_all_names() {
    let error = "labelz".parse::<Method>().unwrap_err();
    assert_eq!(error.to_string(), "`labelz` is not one of exact, minhash, lsh, kmv");
}
