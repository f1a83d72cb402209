//! Queries 1, 3 and 6 of the TPC-H benchmark as comprehensions, over tables that are made like its own.
//!
//! Money is in cents, discounts and taxes in hundredths, dates in days since the beginning of 1992: sums are exact. Words are
//! numbers.

use pumice::prelude::*;

/// A line of an order: (order, quantity, price, discount, tax, return flag, status, day of shipping).
pub type Item = (i64, i64, i64, i64, i64, u32, u32, i64);
/// (order, customer, day, priority of shipping).
pub type Order = (i64, i64, i64, i64);
/// (customer, market segment).
pub type Customer = (i64, u32);
/// A line of the pricing summary: return flag and status; sums of quantity, price, price with discount (in hundredths of a cent) and
/// that with tax (in hundredths of those); averages of quantity, price and discount; and the number of lines.
pub type Summary = ((u32, u32), (i64, i64, i64, i64), (f64, f64, f64), i64);

/// Query 1: sums and averages of all lines that were shipped by a day, for each return flag and status.
///
/// ```
/// use pumice_algorithms::irregular::tpch;
/// let summary = pumice::Compiler::on("sim")?.compile(tpch::pricing_summary)?;
/// let items = [(1, 2, 100, 5, 8, 0, 0, 40), (1, 4, 300, 10, 0, 0, 0, 50), (2, 9, 900, 0, 0, 0, 0, 60)];
/// let found = summary.run((&items, 50))?.to_vec()?;
/// assert_eq!(found, [((0, 0), (6, 400, 36500, 3726000), (3.0, 200.0, 7.5), 2)]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn pricing_summary(items: Acc<Vector<Item>>, until: Exp<i64>) -> Acc<Vector<Summary>> {
    comp![
        (
            (flag, status),
            (
                sum![quantity],
                sum![price],
                sum![price * (100 - discount)],
                sum![price * (100 - discount) * (100 + tax)]
            ),
            (average(sum![quantity], count![]), average(sum![price], count![]), average(sum![discount], count![])),
            count![]
        )
        | (_, quantity, price, discount, tax, flag, status, shipped) <- items, shipped <= until, group by (flag, status)
    ]
}

/// Query 3: the ten orders of a market segment from before a day that bring most, of lines that were shipped after it:
/// (order, revenue in hundredths of a cent, day, priority).
///
/// ```
/// use pumice_algorithms::irregular::tpch;
/// let orders = pumice::Compiler::on("sim")?.compile(tpch::shipping_priority)?;
/// let items = [(1, 2, 100, 5, 8, 0, 0, 40), (1, 4, 300, 10, 0, 0, 0, 50), (2, 9, 900, 0, 0, 0, 0, 60)];
/// let found = orders.run((&[(7, 1), (8, 2)], &[(1, 7, 30, 0), (2, 8, 30, 0)], &items, 1, 45))?.to_vec()?;
/// assert_eq!(found, [(1, 27000, 30, 0)]);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn shipping_priority(
    customers: Acc<Vector<Customer>>,
    orders: Acc<Vector<Order>>,
    items: Acc<Vector<Item>>,
    segment: Exp<u32>,
    day: Exp<i64>,
) -> Acc<Vector<(i64, i64, i64, i64)>> {
    let members = comp![customer | (customer, of) <- customers, of == segment];
    let open = comp![(order, date, priority)
        | (order, buyer, date, priority) <- orders, date < day, member <- members, member == buyer];
    comp![
        (order, sum![price * (100 - discount)], date, priority)
        | (of, _, price, discount, _, _, _, shipped) <- items, shipped > day,
        (order, date, priority) <- open, order == of,
        group by (order, date, priority), order by (sum![price * (100 - discount)] desc, date), take 10
    ]
}

/// Query 6: the additional revenue, without their discount, of lines of a year from `day` on with a discount of about 6 hundredths and a
/// small quantity, in hundredths of a cent.
///
/// ```
/// use pumice_algorithms::irregular::tpch;
/// let change = pumice::Compiler::on("sim")?.compile(tpch::revenue_change)?;
/// let items = [(1, 2, 100, 5, 8, 0, 0, 40), (1, 4, 300, 10, 0, 0, 0, 50), (2, 9, 900, 6, 0, 0, 0, 60)];
/// assert_eq!(change.run((&items, 30))?.to_value()?, 5 * 100 + 6 * 900);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn revenue_change(items: Acc<Vector<Item>>, day: Exp<i64>) -> Acc<Scalar<i64>> {
    sum![
        price * discount
        | (_, quantity, price, discount, _, _, _, shipped) <- items,
        day <= shipped && shipped < day + 365 && 5 <= discount && discount <= 7 && quantity < 24
    ]
}

fn average(sum: Exp<i64>, count: Exp<i64>) -> Exp<f64> {
    sum.cast::<f64>() / count.cast::<f64>()
}

/// Tables that are made by plain Rust, and the same queries in it.
pub mod plain {
    use super::{Customer, Item, Order, Summary};
    use crate::irregular::Numbers;
    use std::cmp::Reverse;
    use std::collections::{BTreeMap, HashMap, HashSet};

    /// The days that the benchmark's queries ask for: 2 September 1998, 15 March 1995, 1 January 1994.
    pub const DAYS: [i64; 3] = [2436, 1169, 731];
    /// 17 June 1995, which the benchmark has for today.
    const TODAY: i64 = 1263;

    /// The tables.
    #[derive(Clone, Debug)]
    pub struct Tables {
        /// The customers.
        pub customers: Vec<Customer>,
        /// Their orders: ten per customer on average, but none of every third customer.
        pub orders: Vec<Order>,
        /// Up to seven lines of each order.
        pub items: Vec<Item>,
    }

    impl Tables {
        /// Tables of so many customers; 150 000 are the benchmark's scale factor 1.
        pub fn new(customers: usize, seed: u64) -> Tables {
            let mut numbers = Numbers::new(seed);
            let mut tables = Tables { customers: Vec::new(), orders: Vec::new(), items: Vec::new() };
            tables.customers.extend((1..=customers as i64).map(|key| (key, numbers.below(5) as u32)));
            // With one or two customers, there is one that may order.
            let buyers = customers - customers / 3;
            for order in 0..10 * customers as i64 {
                let buyer = numbers.below(buyers) as i64;
                let day = numbers.between(0, 2406);
                tables.orders.push((order, buyer / 2 * 3 + buyer % 2 + 1, day, 0));
                for _ in 0..numbers.between(1, 8) {
                    tables.items.push(item(&mut numbers, order, day));
                }
            }
            tables
        }

        /// Query 1.
        pub fn pricing_summary(&self, until: i64) -> Vec<Summary> {
            let mut groups = BTreeMap::<(u32, u32), [i64; 6]>::new();
            for (_, quantity, price, discount, tax, flag, status, shipped) in &self.items {
                if *shipped <= until {
                    let reduced = price * (100 - discount);
                    let new = [*quantity, *price, reduced, reduced * (100 + tax), *discount, 1];
                    let sums = groups.entry((*flag, *status)).or_default();
                    sums.iter_mut().zip(new).for_each(|(sum, new)| *sum += new);
                }
            }
            let line = |(key, [quantity, price, reduced, taxed, discount, count]): ((u32, u32), [i64; 6])| {
                let average = |sum: i64| sum as f64 / count as f64;
                (
                    key,
                    (quantity, price, reduced, taxed),
                    (average(quantity), average(price), average(discount)),
                    count,
                )
            };
            groups.into_iter().map(line).collect()
        }

        /// Query 3.
        pub fn shipping_priority(&self, segment: u32, day: i64) -> Vec<(i64, i64, i64, i64)> {
            let members: HashSet<i64> = self
                .customers
                .iter()
                .filter(|(_, of)| *of == segment)
                .map(|(customer, _)| *customer)
                .collect();
            let open =
                self.orders.iter().filter(|(_, buyer, date, _)| *date < day && members.contains(buyer));
            let open: HashMap<i64, (i64, i64)> =
                open.map(|(order, _, date, priority)| (*order, (*date, *priority))).collect();
            let mut revenues = BTreeMap::<i64, i64>::new();
            for (order, _, price, discount, _, _, _, shipped) in &self.items {
                if *shipped > day && open.contains_key(order) {
                    *revenues.entry(*order).or_default() += price * (100 - discount);
                }
            }
            let lines =
                revenues.into_iter().map(|(order, revenue)| (order, revenue, open[&order].0, open[&order].1));
            let mut lines: Vec<_> = lines.collect();
            lines.sort_by_key(|(_, revenue, date, _)| (Reverse(*revenue), *date));
            lines.truncate(10);
            lines
        }

        /// Query 6.
        pub fn revenue_change(&self, day: i64) -> i64 {
            let asked = |(_, quantity, _, discount, _, _, _, shipped): &&Item| {
                (day..day + 365).contains(shipped) && (5..=7).contains(discount) && *quantity < 24
            };
            self.items.iter().filter(asked).map(|(_, _, price, discount, ..)| price * discount).sum()
        }
    }

    /// A line of an order of a day.
    fn item(numbers: &mut Numbers, order: i64, day: i64) -> Item {
        let quantity = numbers.between(1, 51);
        let price = quantity * numbers.between(90_000, 200_000);
        let (discount, tax) = (numbers.between(0, 11), numbers.between(0, 9));
        let shipped = day + numbers.between(1, 122);
        let received = shipped + numbers.between(1, 31);
        let flag = if received > TODAY {
            u32::from('N')
        } else {
            [u32::from('R'), u32::from('A')][numbers.below(2)]
        };
        let status = u32::from(if shipped > TODAY { 'O' } else { 'F' });
        (order, quantity, price, discount, tax, flag, status, shipped)
    }
}
