/** What an etcd that has ended wrote, read for the reason. Pure. */

export interface EtcdEnd {
  /** The line that best explains the end; empty when it wrote nothing. */
  readonly line: string;
  /** What an administrator has to mend, if anything. */
  readonly trouble?: 'damaged' | 'full';
}

/** What etcd, and Go, write when they give up. */
const lastWords = /"level":"(?:fatal|panic|dpanic)"|^panic: |^fatal error: |^unexpected fault address /;
const full = /no space left on device|disk quota exceeded/i;
/** Of its log, of its snapshots, of bbolt's file, and of the order between them. */
const damaged =
  /crc mismatch|unexpected EOF|file corrupt|corrupted|wal: (?:file|slice bounds|max entry)|invalid database|checksum error|^fatal error: fault|freelist|page \d+: |is out of range \[lastIndex/i;

const longestLine = 500;

export function readEtcdOutput(output: string): EtcdEnd {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const said = lines.filter((line) => lastWords.test(line)).map(inWords);
  const line = (
    said.find((one) => full.test(one) || damaged.test(one)) ??
    said[0] ??
    lines.at(-1) ??
    ''
  ).slice(0, longestLine);
  if (full.test(line)) return { line, trouble: 'full' };
  return said.length > 0 && damaged.test(line) ? { line, trouble: 'damaged' } : { line };
}

/** A line of etcd's log is JSON, cut off where the disk was full; a line of the Go runtime is plain text. */
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

/** One line for the administrator; undefined when nothing has to be done by hand. */
export function etcdAdvice({ line, trouble }: EtcdEnd, directory: string): string | undefined {
  if (trouble === 'full')
    return `the disk of ${directory} is full (${line}): make room there, and etcd goes on by itself`;
  if (trouble === 'damaged')
    return `the data of etcd in ${directory} are damaged (${line}): stop minik8s, move ${directory} away, and restore a snapshot of etcd in its place; without it the cluster begins anew, empty`;
  return undefined;
}
