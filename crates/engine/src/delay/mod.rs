//! Delays: what makes packets late without choosing among them.

mod constant;
mod line;

pub(crate) use constant::Delay;
pub(crate) use line::Line;
