"""From a recipe's file to its cases: keys read and checked, the matrix spread out, slots filled."""
