/** Finds the reason in the output of an etcd that has ended. Pure. */

export interface EtcdEnd {
  /** The line that best explains the end; empty if there was no output. */
  readonly line: string;
  /** Problem that an administrator has to fix, if there is one. */
  readonly trouble?: EtcdTrouble;
}

export type EtcdTrouble = keyof typeof troubles | 'waiting' | 'removed';

/** Line of a member that the others have removed. */
const removed = /"msg":"data-dir used by this member must be removed"/;

/** Last lines that etcd, and Go, write when they abort. */
const lastWords = /"level":"(?:fatal|panic|dpanic)"|^panic: |^fatal error: |^unexpected fault address /;

/**
 * Words in the last lines, by problem, in the order of their precedence. Damage is in etcd's log, in its
 * snapshots, in bbolt's file, or in the order between them.
 */
const troubles = {
  full: /no space left on device|disk quota exceeded/i,
  'read-only': /read-only file system/i,
  denied: /permission denied|operation not permitted/i,
  failing: /input\/output error/i,
  newer: /version \\?"[\d.]+\\?" is not supported|cannot downgrade|invalid downgrade/i,
  damaged:
    /crc mismatch|unexpected EOF|file corrupt|corrupted|wal: (?:file|slice bounds|max entry)|invalid database|checksum error|^fatal error: fault|freelist|page \d+: |Page expected to be|assertion failed|is out of range \[lastIndex|: (?:is a|not a) directory/i,
} as const;

/** Problems that no further start of etcd ends. */
const lasting: readonly (EtcdTrouble | undefined)[] = ['denied', 'newer', 'damaged', 'removed'];

export const isLasting = ({ trouble }: EtcdEnd): boolean => lasting.includes(trouble);

/** Warning of an etcd that cannot make its first write, which it repeats for ever. */
const waits = /"msg":"failed to publish local member to cluster through raft"/;

/** Frame of a Go stack trace in which etcd reads its data: damaged data can end etcd by a runtime error. */
const readsData = /^go\.etcd\.io\/etcd\/server\/v\d+\/etcdserver\.bootstrap\(/;

const maxLineLength = 500;

export function readEtcdOutput(output: string): EtcdEnd {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  if (lines.some((one) => removed.test(one))) return { line: 'the member was removed', trouble: 'removed' };
  const said = lines.filter((line) => lastWords.test(line)).map(inWords);
  const telling = said.find((one) => troubles.full.test(one)) ?? said.find((one) => troubleIn(one));
  const line = (telling ?? said[0] ?? lines.at(-1) ?? '').slice(0, maxLineLength);
  if (troubles.full.test(line)) return { line, trouble: 'full' };
  if (said.length === 0)
    return lines.some((one) => waits.test(one)) ? { line, trouble: 'waiting' } : { line };
  const trouble = troubleIn(line) ?? (lines.some((one) => readsData.test(one)) ? 'damaged' : undefined);
  return trouble ? { line, trouble } : { line };
}

function troubleIn(line: string): keyof typeof troubles | undefined {
  return (Object.keys(troubles) as (keyof typeof troubles)[]).find((name) => troubles[name].test(line));
}

/** Returns the first line that a command of the embedded etcd has written to its standard error. */
export const firstWords = (stderr: string): string => withoutPanic(stderr.trim().split('\n', 1)[0] ?? '');

const withoutPanic = (line: string): string => line.replace(/^panic: /, '');

/**
 * Extracts the message of a line. A line of etcd's log is JSON, cut off if the disk was full; a line of the
 * Go runtime is plain text.
 */
function inWords(line: string): string {
  const fields = ['msg', 'error', 'panic'].flatMap((name) => {
    const quoted = new RegExp(`"${name}":("(?:[^"\\\\]|\\\\.)*")`).exec(line)?.[1];
    return quoted === undefined ? [] : readString(quoted);
  });
  return fields.filter(Boolean).join(': ') || withoutPanic(line);
}

function readString(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}

/**
 * Returns one line for the administrator; undefined if no manual work is needed. `mending` is the command
 * that mends damaged data.
 */
export function etcdAdvice(
  { line, trouble }: EtcdEnd,
  directory: string,
  mending = usualMending,
): string | undefined {
  if (trouble === undefined || trouble === 'waiting') return undefined;
  return advice[trouble](line, directory, mending);
}

const usualMending =
  'stop minik8s, and restore a backup of the cluster (minik8s backup restore --replace FILE)';

const advice: Readonly<
  Record<Exclude<EtcdTrouble, 'waiting'>, (line: string, directory: string, mending: string) => string>
> = {
  full: (line, directory) =>
    `the disk of ${directory} is full (${line}): make room there (etcd allocates 64 MB at once), and etcd goes on by itself`,
  'read-only': (line, directory) =>
    `the disk of ${directory} is read-only (${line}): the kernel does this to a disk with errors, which dmesg shows; mount it writable again, and etcd goes on by itself`,
  denied: (line, directory) =>
    `the user of minik8s may not write in ${directory} (${line}): run minik8s as the owner of all its files, or give them to this user (chown -R)`,
  failing: (line, directory) =>
    `the disk of ${directory} fails (${line}): dmesg shows its errors; replace it, and restore a backup of the cluster on another one`,
  newer: (line, directory) =>
    `the data of etcd in ${directory} were written by a newer minik8s (${line}): start that version again; this one reads only a backup that it has made itself`,
  removed: () =>
    'this master was removed from the cluster: stop it, and join again with the line that minik8s token create --master prints on another master, or run minik8s reset',
  damaged: (line, directory, mending) => `the data of etcd in ${directory} are damaged (${line}): ${mending}`,
};
