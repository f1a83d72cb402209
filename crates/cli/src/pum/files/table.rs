//! `.csv` files: a column is a vector, several are a matrix. A first line that contains a word is a heading.

use super::{Outcome, Values};
use pumice::layers::array::HostData;
use pumice::layers::scalar::ScalarType;
use pumice_lang::show::literal;

/// Reads numbers as `f64`.
pub fn read(bytes: &[u8]) -> Outcome<HostData> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).trim(csv::Trim::All).from_reader(bytes);
    let (mut column, mut rows, mut width) = (Vec::new(), 0, 1);
    for (number, record) in reader.records().enumerate() {
        // The error names the line.
        let record = record.map_err(|error| error.to_string())?;
        let numbers: Vec<Option<f64>> = record.iter().map(|text| text.parse().ok()).collect();
        if let Some(wrong) = numbers.iter().position(Option::is_none) {
            if number == 0 {
                continue;
            }
            let line = record.position().map_or(0, csv::Position::line);
            return Err(format!("line {line}: `{}` is no number", record.get(wrong).unwrap_or("")));
        }
        numbers.into_iter().flatten().for_each(|number| column.extend(number.to_le_bytes()));
        (rows, width) = (rows + 1, record.len());
    }
    let extents = if width == 1 { vec![rows] } else { vec![rows, width] };
    Ok(HostData::new(extents, vec![ScalarType::F64], vec![column]))
}

/// Writes a vector with one element per line, or a matrix. Elements of several scalars have a column for each.
pub fn write(values: &Values) -> Outcome<Vec<u8>> {
    let (rows, columns) = match values.extents[..] {
        [] => (1, 1),
        [count] => (count, 1),
        [rows, columns] => (rows, columns),
        _ => return Err("a table has two dimensions at most; .npy takes more".to_string()),
    };
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in 0..rows {
        let numbers = (0..columns).flat_map(|column| {
            (0..values.types.len()).filter_map(move |part| values.get(part, row * columns + column))
        });
        writer.write_record(numbers.map(literal)).map_err(|error| error.to_string())?;
    }
    writer.into_inner().map_err(|error| error.to_string())
}
