mod missing {
    pumice::include_pum!(missing.pum);
}

fn main() {}
