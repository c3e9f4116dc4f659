/**
 * Part of a growing file that is copied: its beginning while the job runs, its end after the job has ended.
 */
import { maxSlurmChunk } from '../api/slurm-file.ts';

export type Piece = { readonly from: number; readonly to: number } | { readonly text: string };

/**
 * Returns the piece to add to a copy of `stored` bytes of a file with `size` bytes, or undefined if there is
 * none. The middle of a file above `limit` bytes is omitted, with a line that states this.
 */
export function nextPiece(size: number, stored: number, limit: number, atEnd: boolean): Piece | undefined {
  const half = Math.floor(limit / 2);
  const upTo = (from: number, to: number): Piece | undefined =>
    from < to ? { from, to: Math.min(to, from + maxSlurmChunk) } : undefined;
  if (!atEnd) return upTo(stored, Math.min(size, half));
  if (size <= limit) return upTo(stored, size);
  if (stored < half) return upTo(stored, half);
  const text = `\n[minik8s: ${size - 2 * half} bytes left out]\n`;
  if (stored === half) return { text };
  return upTo(size - half + (stored - half - text.length), size);
}
