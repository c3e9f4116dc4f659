/** The last order that was carried out on a machine, as it is kept in a file. Pure. */
import type { UpgradeOrder } from '../../api/core/v1/node/upgrade.ts';

export interface Attempt {
  /** Number of the order. */
  readonly id: string;
  /** SHA-256 digest of the ordered executable in hexadecimal digits. */
  readonly sha256: string;
  /** True once the new executable runs, or the failure is reported. */
  readonly isOver: boolean;
}

/**
 * Returns the attempt in the text of the file; undefined if there is none. Earlier versions wrote the
 * number alone: the digest is then that of the present order, if it has this number.
 */
export function attemptIn(text: string, order: UpgradeOrder | undefined): Attempt | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  if (!trimmed.startsWith('{'))
    return order?.id === trimmed ? { id: trimmed, sha256: order.sha256, isOver: false } : undefined;
  const { id, sha256, isOver } = recordIn(trimmed);
  if (typeof id !== 'string' || typeof sha256 !== 'string') return undefined;
  return { id, sha256, isOver: isOver === true };
}

function recordIn(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (error) {
    // A file that was cut, for example on a full disk, has no attempt.
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
