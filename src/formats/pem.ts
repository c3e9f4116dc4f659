/** Blocks of a PEM text (RFC 7468), found as Go's encoding/pem finds them. Pure. */

export interface PemBlock {
  /** Label of the block, such as `CERTIFICATE`. */
  readonly type: string;
  /** True if lines such as `Proc-Type: 4` precede the content. */
  readonly hasHeaders: boolean;
  readonly bytes: Uint8Array;
}

const begin = '-----BEGIN ';
const end = '-----END ';
const dashes = '-----';
const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Returns the complete blocks in their order. Text outside of blocks and damaged blocks are skipped. */
export function* pemBlocks(text: string): Generator<PemBlock> {
  let open: OpenBlock | undefined;
  for (const line of linesOf(text)) {
    const type = labelIn(line, begin);
    if (type !== undefined) open = { type, hasHeaders: false, body: [] };
    else if (line.startsWith(end)) {
      if (open) yield* blocksOf(open, line);
      open = undefined;
    } else if (open) addLine(open, line);
  }
}

interface OpenBlock {
  readonly type: string;
  hasHeaders: boolean;
  readonly body: string[];
}

function addLine(open: OpenBlock, line: string): void {
  if (open.body.length === 0 && line.includes(':')) open.hasHeaders = true;
  else open.body.push(line.replaceAll(/[ \t\r]/g, ''));
}

/** Returns the block that ends with the line; none for another label or damaged content. */
function blocksOf({ type, hasHeaders, body }: OpenBlock, lastLine: string): PemBlock[] {
  const bytes = labelIn(lastLine, end) === type ? bytesOf(body.join('')) : undefined;
  return bytes ? [{ type, hasHeaders, bytes }] : [];
}

/** Returns the text of a block without headers, with 64 characters a line. */
export function pemText(type: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `${[`${begin}${type}${dashes}`, ...lines, `${end}${type}${dashes}`].join('\n')}\n`;
}

function* linesOf(text: string): Generator<string> {
  let at = 0;
  while (at <= text.length) {
    const next = text.indexOf('\n', at);
    yield text.slice(at, next < 0 ? undefined : next);
    if (next < 0) return;
    at = next + 1;
  }
}

/** Returns the label of a line that begins or ends a block; undefined for any other line. */
function labelIn(line: string, mark: string): string | undefined {
  if (!line.startsWith(mark)) return undefined;
  const rest = line.trimEnd();
  return rest.endsWith(dashes) && rest.length >= mark.length + dashes.length
    ? rest.slice(mark.length, -dashes.length)
    : undefined;
}

const bytesOf = (content: string): Uint8Array | undefined =>
  content.length % 4 === 0 && base64.test(content) ? Buffer.from(content, 'base64') : undefined;
