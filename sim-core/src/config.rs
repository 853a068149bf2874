//! Reading a configuration document into a type, with errors that name the place.
