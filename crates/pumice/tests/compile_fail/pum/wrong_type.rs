mod wrong {
    pumice::include_pum!("wrong_type.pum");
}

fn main() {}
