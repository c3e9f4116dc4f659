/** The first member of an archive that the tar of a container has written. Pure. */
import { blockSize } from '../../../../formats/tar-archive.ts';

export interface FirstMember {
  readonly type: 'file' | 'directory' | 'symlink' | 'other';
  /** Position and length of its content in the archive, in bytes. */
  readonly offset: number;
  readonly size: number;
  /** Target of a symlink; empty for other types. */
  readonly target: string;
}

const types: Readonly<Record<string, FirstMember['type']>> = {
  ...{ '0': 'file', '\0': 'file', '7': 'file' },
  ...{ '5': 'directory', '2': 'symlink' },
};
/** Types of the records before a member, with its name or target if these are long. */
const recordTypes = 'LKxg';

/** Reads the beginning of an archive; returns undefined if it has no member, or not that of an archive. */
export function firstMember(bytes: Uint8Array): FirstMember | undefined {
  let longTarget = '';
  for (let at = 0; ; ) {
    const header = headerAt(bytes, at);
    if (!header || !recordTypes.includes(header.type)) return header && memberOf(header, longTarget);
    if (header.type === 'K') longTarget = textAt(bytes, header.offset, header.size);
    at = header.offset + Math.ceil(header.size / blockSize) * blockSize;
  }
}

type Header = Omit<FirstMember, 'type'> & { readonly type: string };

/** Returns undefined if the bytes end before the end of the header, or are not a header. */
function headerAt(bytes: Uint8Array, at: number): Header | undefined {
  const header = bytes.subarray(at, at + blockSize);
  const digits = textAt(header, 124, 12).trim();
  if (textAt(header, 257, 5) !== 'ustar' || !/^[0-7]+$/.test(digits)) return undefined;
  return {
    type: String.fromCharCode(header[156] ?? 0),
    offset: at + blockSize,
    size: Number.parseInt(digits, 8),
    target: textAt(header, 157, 100),
  };
}

function memberOf(header: Header, longTarget: string): FirstMember {
  const type = types[header.type] ?? 'other';
  return { ...header, type, target: type === 'symlink' ? longTarget || header.target : '' };
}

function textAt(bytes: Uint8Array, at: number, length: number): string {
  const field = bytes.subarray(at, at + length);
  const end = field.indexOf(0);
  return new TextDecoder().decode(end < 0 ? field : field.subarray(0, end));
}
