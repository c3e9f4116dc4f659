/** The content of a function's image in addition to its base and its libraries. Pure. */

import { archiveEnd, memberHeader, padding, type TarMember } from '../../../../formats/tar-archive.ts';
import { parseFunctionImage } from '../../api/function-image.ts';
import { instancePort } from '../../api/function-instance.ts';
import { pathProblem } from '../../api/function-validation.ts';
import type { FunctionVersion } from '../../api/function-version.ts';
import { BuildError } from './build-error.ts';

export type FunctionRuntime = NonNullable<FunctionVersion['spec']['runtime']>;

/** Folders of the image. The second is only for files that builds put there. */
export const programFolder = 'function';
export const ownFolder = 'minik8s';

/** The program that serves the calls, by runtime: the asset, and the command line. */
export const runPrograms = {
  python: { asset: 'run.py', command: ['python3', `/${ownFolder}/run.py`] },
  nodejs: { asset: 'run.mjs', command: ['node', `/${ownFolder}/run.mjs`] },
} as const;

/**
 * Signal to a waiting instance that the files of its function are complete. SIGURG does nothing by default
 * (signal(7)), so an instance that has not installed its handler yet does not end.
 */
export const givenSignal = 'SIGURG';

/**
 * Labels of the images. Containers inherit them, so an agent must not use any of them to find its containers.
 */
export const imageLabels = {
  of: 'minik8s.io/function-image',
  version: 'minik8s.io/built-for',
  hash: 'minik8s.io/content-hash',
  /** The agent that built the image; only that agent may remove it. */
  by: 'minik8s.io/built-by',
} as const;

/** Modification time of all files: 1980, the earliest time that a zip archive can have. */
const modified = 315_532_800;

export interface NamedFile {
  /** Relative path that stays below its folder. */
  readonly path: string;
  readonly content: Uint8Array;
}

/**
 * Returns the files of a version. Throws BuildError for a path that leaves the folder: a version need not
 * come from a validated Function.
 */
export function programFiles({ spec }: Pick<FunctionVersion, 'spec'>): readonly NamedFile[] {
  const { files = {}, binaryFiles = {} } = spec;
  const all = [
    ...Object.entries(files).map(([path, text]) => ({ path, content: Buffer.from(text) })),
    ...Object.entries(binaryFiles).map(([path, base64]) => ({
      path,
      content: Buffer.from(base64, 'base64'),
    })),
  ];
  for (const { path } of all) {
    const problem = pathProblem(path);
    if (problem !== undefined) throw new BuildError(`the file ${JSON.stringify(path)} ${problem}`);
  }
  return all;
}

/** Returns the text of a file in `files`; undefined when there is none. */
export const textOf = ({ spec }: Pick<FunctionVersion, 'spec'>, path: string): string | undefined =>
  spec.files && Object.hasOwn(spec.files, path) ? spec.files[path] : undefined;

/**
 * Returns a tar archive for the root of an image, with the same bytes for the same files: everything belongs
 * to root and is dated 1980. Every folder is included, so that a link of the same name in the base image is
 * replaced and not followed.
 */
export function archiveOf(files: readonly NamedFile[]): Uint8Array {
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const folders = new Set(sorted.flatMap(({ path }) => parentsOf(path)));
  const own = { uid: 0, gid: 0, modified };
  const directory = (name: string): TarMember => ({ ...own, name, type: 'directory', mode: 0o755, size: 0 });
  const parts: Uint8Array[] = [...folders].sort().map((name) => memberHeader(directory(name)));
  for (const { path, content } of sorted) {
    const member: TarMember = { ...own, name: path, type: 'file', mode: 0o644, size: content.length };
    parts.push(memberHeader(member), content, padding(content.length));
  }
  return Buffer.concat([...parts, archiveEnd]);
}

function parentsOf(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

export const below = (folder: string, files: readonly NamedFile[]): readonly NamedFile[] =>
  files.map(({ path, content }) => ({ path: `${folder}/${path}`, content }));

export interface ImageConfig {
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Labels: Readonly<Record<string, string>>;
}

/** Returns the configuration for starting an instance. Variables in the pod's spec take precedence. */
export function imageConfig({ metadata, spec }: FunctionVersion, runtime: FunctionRuntime): ImageConfig {
  const { namespace = '', name = '', hash = '' } = parseFunctionImage(spec.image) ?? {};
  return {
    Env: [
      `PORT=${instancePort}`,
      `FUNCTION_NAME=${name}`,
      `FUNCTION_NAMESPACE=${namespace}`,
      `FUNCTION_HANDLER=${spec.handler ?? ''}`,
    ],
    Entrypoint: runPrograms[runtime].command,
    Cmd: [],
    WorkingDir: `/${programFolder}`,
    Labels: { [imageLabels.of]: spec.image, [imageLabels.version]: metadata.name, [imageLabels.hash]: hash },
  };
}
