/**
 * An image for `docker load` with one static program. The same program gives the same bytes, and so the same
 * image ID, on every machine and in every build.
 */
import { createHash } from 'node:crypto';
import { archiveEnd, memberHeader, padding } from '../../src/formats/tar-archive.ts';

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

/** Returns an archive of regular files that belong to root and were last changed in 1970. */
function tar(entries: readonly TarEntry[]): Buffer {
  const members = entries.flatMap(({ name, mode, content }) => [
    memberHeader({ name, type: 'file', mode, uid: 0, gid: 0, size: content.length, modified: 0 }),
    content,
    padding(content.length),
  ]);
  return Buffer.concat([...members, archiveEnd]);
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
