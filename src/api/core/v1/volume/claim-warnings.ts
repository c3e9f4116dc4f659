import { canonicalQuantity, tryParseQuantity } from '../../../../apimachinery/quantity.ts';
import type { PersistentVolumeClaimSpec } from '../types.gen.ts';

/**
 * Returns warnings for amounts in bytes, such as memory, that are not whole bytes. `names` are the checked
 * resources, in that order.
 */
export function fractionWarnings(
  amounts: Readonly<Record<string, string>> | undefined,
  path: string,
  names: readonly string[],
): string[] {
  return names.flatMap((name) => {
    const text = amounts?.[name] ?? '0';
    if ((tryParseQuantity(text)?.nano ?? 0n) % 1_000_000_000n === 0n) return [];
    const shown = JSON.stringify(canonicalQuantity(text));
    return [`${path}[${name}]: fractional byte value ${shown} is invalid, must be an integer`];
  });
}

/** Returns the warnings of a claim, or of a claim template. */
export const claimSpecWarnings = (
  { resources }: Pick<PersistentVolumeClaimSpec, 'resources'>,
  path: string,
): string[] =>
  (['requests', 'limits'] as const).flatMap((field) =>
    fractionWarnings(resources?.[field], `${path}.resources.${field}`, ['storage']),
  );
