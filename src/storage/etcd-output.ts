/** Finds the reason in the output of an etcd that has ended. Pure. */

export interface EtcdEnd {
  /** The line that best explains the end; empty if there was no output. */
  readonly line: string;
  /** Problem that an administrator has to fix, if there is one. */
  readonly trouble?: 'damaged' | 'full' | 'removed';
}

/** Line of a member that the others have removed. */
const removed = /"msg":"data-dir used by this member must be removed"/;

/** Last lines that etcd, and Go, write when they abort. */
const lastWords = /"level":"(?:fatal|panic|dpanic)"|^panic: |^fatal error: |^unexpected fault address /;
const full = /no space left on device|disk quota exceeded/i;
/** Damage in etcd's log, in its snapshots, in bbolt's file, or in the order between them. */
const damaged =
  /crc mismatch|unexpected EOF|file corrupt|corrupted|wal: (?:file|slice bounds|max entry)|invalid database|checksum error|^fatal error: fault|freelist|page \d+: |is out of range \[lastIndex/i;

const maxLineLength = 500;

export function readEtcdOutput(output: string): EtcdEnd {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  if (lines.some((one) => removed.test(one))) return { line: 'the member was removed', trouble: 'removed' };
  const said = lines.filter((line) => lastWords.test(line)).map(inWords);
  const line = (
    said.find((one) => full.test(one) || damaged.test(one)) ??
    said[0] ??
    lines.at(-1) ??
    ''
  ).slice(0, maxLineLength);
  if (full.test(line)) return { line, trouble: 'full' };
  return said.length > 0 && damaged.test(line) ? { line, trouble: 'damaged' } : { line };
}

/**
 * Extracts the message of a line. A line of etcd's log is JSON, cut off if the disk was full; a line of the
 * Go runtime is plain text.
 */
function inWords(line: string): string {
  const fields = ['msg', 'error', 'panic'].flatMap((name) => {
    const quoted = new RegExp(`"${name}":("(?:[^"\\\\]|\\\\.)*")`).exec(line)?.[1];
    return quoted === undefined ? [] : readString(quoted);
  });
  return fields.filter(Boolean).join(': ') || line;
}

function readString(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}

/** Returns one line for the administrator; undefined if no manual work is needed. */
export function etcdAdvice({ line, trouble }: EtcdEnd, directory: string): string | undefined {
  if (trouble === 'full')
    return `the disk of ${directory} is full (${line}): make room there (etcd allocates 64 MB at once), and etcd goes on by itself`;
  if (trouble === 'removed')
    return 'this master was removed from the cluster: stop it, and join again with the line that minik8s token create --master prints on another master, or run minik8s reset';
  if (trouble === 'damaged')
    return `the data of etcd in ${directory} are damaged (${line}): stop minik8s, move ${directory} away, and restore a snapshot of etcd in its place; without it the cluster begins anew, empty`;
  return undefined;
}
