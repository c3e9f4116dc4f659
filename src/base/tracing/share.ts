/** Parses a fraction from 0 to 1. Throws an Error that names the expected values. */
export function share(value: string): number {
  const number = Number(value);
  if (!/^\d*\.?\d+$/.test(value) || number > 1) throw new Error('expected a number from 0 to 1, such as 0.1');
  return number;
}
