/**
 * The files of the dashboard's app in one asset of the executable: a length of four bytes, an index as JSON,
 * and the files, each compressed with brotli. config/build/dashboard-pack.ts writes it. Pure.
 */

export interface PackedFile {
  /** Path below the folder of the app, such as `assets/app-3f2a.js`. */
  readonly path: string;
  /** Start in bytes, from the end of the index. */
  readonly offset: number;
  readonly length: number;
  /** Digest of the content, for the ETag. */
  readonly digest: string;
}

export interface ReadFile {
  readonly compressed: Uint8Array;
  readonly digest: string;
}

const lengthBytes = 4;

export function writePack(
  files: readonly { readonly path: string; readonly digest: string; readonly compressed: Uint8Array }[],
): Uint8Array {
  let offset = 0;
  const index = files.map(({ path, digest, compressed }): PackedFile => {
    const file = { path, offset, length: compressed.length, digest };
    offset += compressed.length;
    return file;
  });
  const head = new TextEncoder().encode(JSON.stringify(index));
  const pack = new Uint8Array(lengthBytes + head.length + offset);
  new DataView(pack.buffer).setUint32(0, head.length);
  pack.set(head, lengthBytes);
  for (const [i, { offset: start }] of index.entries())
    pack.set(files[i]?.compressed ?? new Uint8Array(), lengthBytes + head.length + start);
  return pack;
}

/** Returns the files by path. They share the memory of the pack. */
export function readPack(pack: Uint8Array): ReadonlyMap<string, ReadFile> {
  const length = new DataView(pack.buffer, pack.byteOffset).getUint32(0);
  const start = lengthBytes + length;
  const index: readonly PackedFile[] = JSON.parse(
    new TextDecoder().decode(pack.subarray(lengthBytes, start)),
  );
  return new Map(
    index.map(({ path, offset, length: size, digest }) => [
      path,
      { compressed: pack.subarray(start + offset, start + offset + size), digest },
    ]),
  );
}
