/** Mappings of files in the memory of a process, as /proc/PID/smaps has them. */

export interface Mapping {
  /** Address of the first byte. */
  readonly start: bigint;
  /** Address behind the last byte. */
  readonly end: bigint;
}

const head = /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ \S+ +(.*)$/;
/** The line of a mapping none of whose pages was ever written to. */
const unwritten = /^Anonymous: +0 kB$/m;

/**
 * Returns the mappings of `path` whose content is that of the file: they are not writable, and none of their
 * pages was written to, as by the loader before it made them read-only.
 */
export const unwrittenMappings = (smaps: string, path: string): readonly Mapping[] =>
  smaps.split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m).flatMap((text) => {
    const [, start = '', end = '', access = 'w', name] = head.exec(firstLine(text)) ?? [];
    const isWanted = name === path && !access.includes('w') && unwritten.test(text);
    return isWanted ? [{ start: BigInt(`0x${start}`), end: BigInt(`0x${end}`) }] : [];
  });

const firstLine = (text: string) => text.slice(0, text.indexOf('\n'));
