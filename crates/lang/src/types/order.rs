//! The order in which functions are inferred: groups of functions that use each other, each group after those that it uses.

/// Returns the strongly connected components of a graph, each after those that its edges lead to. The graph may be of any depth:
/// there is no recursion.
pub fn components(edges: &[Vec<u32>]) -> Vec<Vec<u32>> {
    const UNSEEN: u32 = u32::MAX;
    let mut numbers = vec![UNSEEN; edges.len()];
    let mut lowest = vec![0; edges.len()];
    let mut waiting = vec![false; edges.len()];
    let (mut stack, mut groups, mut next) = (Vec::new(), Vec::new(), 0);
    for root in 0..edges.len() {
        if numbers[root] != UNSEEN {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some((node, edge)) = path.last_mut() {
            let node = *node;
            if *edge == 0 {
                (numbers[node], lowest[node], waiting[node]) = (next, next, true);
                next += 1;
                stack.push(node as u32);
            }
            if let Some(to) = edges[node].get(*edge).map(|to| *to as usize) {
                *edge += 1;
                if numbers[to] == UNSEEN {
                    path.push((to, 0));
                } else if waiting[to] {
                    lowest[node] = lowest[node].min(numbers[to]);
                }
                continue;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                lowest[*parent] = lowest[*parent].min(lowest[node]);
            }
            if lowest[node] == numbers[node] {
                let start = stack.iter().rposition(|other| *other as usize == node).unwrap_or(0);
                let mut group = stack.split_off(start);
                group.iter().for_each(|member| waiting[*member as usize] = false);
                group.sort_unstable();
                groups.push(group);
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn groups_come_after_what_they_use() {
        let edges = [vec![1], vec![2], vec![1, 3], vec![], vec![0, 4]];
        assert_eq!(components(&edges), [vec![3], vec![1, 2], vec![0], vec![4]]);
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let edges: Vec<Vec<u32>> = (1..100_000).map(|next| vec![next]).chain([vec![]]).collect();
        assert_eq!(components(&edges).len(), 100_000);
    }
}
