/** Source and destination of `ctl cp`. Pure. */
import { UsageError } from '../../base/usage-error.ts';

export interface FileSpec {
  /** Absent for a file of this machine. */
  readonly pod?: string;
  readonly namespace?: string;
  readonly path: string;
}

export type CopyPlan =
  | {
      readonly direction: 'to pod';
      readonly local: string;
      readonly remote: FileSpec & { readonly pod: string };
    }
  | {
      readonly direction: 'from pod';
      readonly remote: FileSpec & { readonly pod: string };
      readonly local: string;
    };

/** Reads `PATH`, `POD:PATH` or `NAMESPACE/POD:PATH`. */
function parseFileSpec(text: string): FileSpec {
  const colon = text.indexOf(':');
  if (colon < 0) return { path: text };
  const [first = '', second, ...more] = text.slice(0, colon).split('/');
  const pod = second ?? first;
  if (more.length > 0 || pod === '' || first === '') {
    throw new UsageError(
      `${JSON.stringify(text)}: filespec must match the canonical format: [[namespace/]pod:]file/path`,
    );
  }
  return { pod, ...(second !== undefined && { namespace: first }), path: text.slice(colon + 1) };
}

/** Throws UsageError unless exactly one of the two paths is in a pod. */
export function planCopy(words: readonly string[]): CopyPlan {
  const [from, to, ...more] = words;
  if (from === undefined || to === undefined || more.length > 0) {
    throw new UsageError('ctl cp: source and destination are required');
  }
  const [source, destination] = [parseFileSpec(from), parseFileSpec(to)];
  if (source.path === '' || destination.path === '') throw new UsageError('ctl cp: filepath cannot be empty');
  if (isRemote(source) && isRemote(destination)) {
    throw new UsageError('ctl cp: one of src or dest must be a local file specification');
  }
  if (isRemote(source)) return { direction: 'from pod', remote: source, local: destination.path };
  if (isRemote(destination)) return { direction: 'to pod', local: source.path, remote: destination };
  throw new UsageError('ctl cp: one of src or dest must be a remote file specification: POD:PATH');
}

const isRemote = (spec: FileSpec): spec is FileSpec & { readonly pod: string } => spec.pod !== undefined;

/** Returns the path as tar uses it in member names: without the root, without `..`. */
export const memberPrefix = (path: string): string => partsOf(path).join('/');

/** Returns `a`, `b` for `/x/../a//./b`. */
function partsOf(path: string): string[] {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts;
}

/**
 * Returns the path of a member relative to the requested path; empty for the path itself. Returns undefined
 * for a member elsewhere, which only a manipulated archive has.
 */
export function memberPath(name: string, prefix: string): readonly string[] | undefined {
  // Names with `..` are rejected, even if they would end inside.
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  const asked = prefix.split('/').filter((part) => part !== '');
  if (parts.includes('..') || asked.some((part, at) => parts[at] !== part)) return undefined;
  return parts.slice(asked.length);
}

/** Splits a path in a container into its directory and its name. */
export function splitRemote(path: string): { readonly directory: string; readonly name: string } {
  const trimmed = path.replace(/\/+$/, '') || '/';
  const at = trimmed.lastIndexOf('/');
  return { directory: at < 0 ? '.' : trimmed.slice(0, at) || '/', name: trimmed.slice(at + 1) };
}
