/**
 * An image for `docker load` with one static program. The same program gives the same bytes, and so the same
 * image ID, on every machine and in every build.
 */
import { createHash } from 'node:crypto';

export interface OneProgramImage {
  /** Repository and tag, such as `minik8s/pause:1`. */
  readonly reference: string;
  readonly architecture: string;
  /** Name of the program in the image's root directory. */
  readonly name: string;
  readonly program: Uint8Array;
}

export function dockerArchive({ reference, architecture, name, program }: OneProgramImage): Buffer {
  const layer = tar([{ name, mode: 0o755, content: program }]);
  const config = json({
    architecture,
    os: 'linux',
    config: { Entrypoint: [`/${name}`] },
    rootfs: { type: 'layers', diff_ids: [`sha256:${sha256(layer)}`] },
    history: [{ created: '1970-01-01T00:00:00Z', created_by: name }],
    created: '1970-01-01T00:00:00Z',
  });
  const configName = `${sha256(config)}.json`;
  const manifest = json([{ Config: configName, RepoTags: [reference], Layers: ['layer.tar'] }]);
  return tar([
    { name: configName, mode: 0o644, content: config },
    { name: 'layer.tar', mode: 0o644, content: layer },
    { name: 'manifest.json', mode: 0o644, content: manifest },
  ]);
}

interface TarEntry {
  readonly name: string;
  readonly mode: number;
  readonly content: Uint8Array;
}

/** Returns a POSIX (ustar) archive of regular files that belong to root and were last changed in 1970. */
function tar(entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap(({ name, mode, content }) => [
    header(name, mode, content.length),
    content,
    Buffer.alloc((512 - (content.length % 512)) % 512),
  ]);
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

function header(name: string, mode: number, size: number): Buffer {
  if (Buffer.byteLength(name) > 100) throw new Error(`${name}: longer than a ustar name can be`);
  const block = Buffer.alloc(512);
  block.write(name, 0);
  block.write(octal(mode, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(0, 12), 136);
  block.write('        ', 148);
  block.write('0', 156);
  block.write('ustar\u000000', 257);
  const checksum = block.reduce((sum, byte) => sum + byte, 0);
  block.write(`${checksum.toString(8).padStart(6, '0')}\u0000 `, 148);
  return block;
}

function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, '0')}\u0000`;
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
