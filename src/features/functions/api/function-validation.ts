/** Rules of Function. Accepted paths are safe to write below a directory. */

import { validateEnv } from '../../../api/core/v1/container/env-validation.ts';
import { validateResources } from '../../../api/core/v1/container/resource-validation.ts';
import {
  duplicateCause,
  forbiddenCause,
  invalidCause,
  invalidTogetherCause,
  requiredCause,
} from '../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { isFunctionImage } from './function-image.ts';
import type { Function as Fn } from './types.gen.ts';

/** Maximum bytes of all files with their paths, as in the object, which must fit into the store. */
const maxBytes = 1_000_000;
const maxFiles = 1000;
const maxPathLength = 255;
/** Maximum length of a name; a version and an instance append to it, and it becomes the name of a pod. */
const maxNameLength = 40;
const dependencyFiles = { python: 'requirements.txt', nodejs: 'package.json' } as const;

type Runtime = NonNullable<Fn['spec']['runtime']>;

/** Returns the name of the file that lists the libraries of a function. */
export const dependencyFile = (runtime: Runtime) => dependencyFiles[runtime];

const defaultHandler = 'main.handler';
const defaultTargets = {
  Concurrency: ({ concurrency }: Fn['spec']) => Math.max(1, Math.floor(concurrency * 0.7)),
  Requests: () => 5,
};

export function setFunctionDefaults({ spec }: Fn): void {
  if (spec.runtime !== undefined) spec.handler ??= defaultHandler;
  spec.target ??= defaultTargets[spec.metric](spec);
  spec.windowSeconds ??= 30;
  spec.idleSeconds ??= 60;
}

export function validateFunction({ metadata, spec }: Fn): StatusCause[] {
  const { runtime, image, env = [], resources = {} } = spec;
  const causes: StatusCause[] = [];
  if (metadata.name.length > maxNameLength || metadata.name.includes('.')) {
    const rule = `must be a DNS label of no more than ${maxNameLength} characters`;
    causes.push(invalidCause('metadata.name', metadata.name, rule));
  }
  if (runtime === undefined && image === undefined) {
    causes.push(requiredCause('spec.runtime', 'a function has a runtime and files, or an image'));
  } else if (runtime !== undefined && image !== undefined) {
    causes.push(forbiddenCause('spec.image', 'a function with a runtime cannot have an image'));
  } else if (runtime === undefined) causes.push(...validateImage(spec));
  else causes.push(...validateProgram(spec, runtime));
  causes.push(...validateEnv(env, 'spec.env'), ...reservedVariables(env));
  causes.push(...validateResources(resources as Parameters<typeof validateResources>[0], 'spec.resources'));
  return [...causes, ...validateNumbers(spec)];
}

function validateImage({ image = '', handler, files, binaryFiles }: Fn['spec']): StatusCause[] {
  const causes: StatusCause[] = [];
  if (image === '') causes.push(requiredCause('spec.image'));
  // The image of a function must not be used by other functions.
  if (isFunctionImage(image)) {
    causes.push(forbiddenCause('spec.image', 'the image of a function cannot be used by another function'));
  }
  for (const [field, value] of Object.entries({ handler, files, binaryFiles })) {
    if (value !== undefined) causes.push(forbiddenCause(`spec.${field}`, 'an image brings its own program'));
  }
  return causes;
}

function validateProgram(spec: Fn['spec'], runtime: Runtime): StatusCause[] {
  const { files = {}, binaryFiles = {} } = spec;
  const paths = [...Object.keys(files), ...Object.keys(binaryFiles)];
  const causes = [
    ...validateHandler(spec, runtime, paths.length === 0),
    ...validateFiles(files, 'spec.files'),
    ...validateFiles(binaryFiles, 'spec.binaryFiles'),
  ];
  for (const [path, content] of Object.entries(binaryFiles)) {
    if (Object.hasOwn(files, path)) causes.push(duplicateCause(`spec.binaryFiles[${path}]`, path));
    if (!isBase64(content)) {
      causes.push(invalidTogetherCause(`spec.binaryFiles[${path}]`, 'must be base64'));
    }
  }
  return [...causes, ...crossedPaths(paths), ...validateSize(Object.entries({ ...files, ...binaryFiles }))];
}

function validateHandler({ handler = '', files = {} }: Fn['spec'], runtime: Runtime, isEmpty: boolean) {
  const causes: StatusCause[] = [];
  const match = /^([A-Za-z_][\w-]*(?:[./][A-Za-z_][\w-]*)*)\.([A-Za-z_$][\w$]*)$/.exec(handler);
  if (!match) {
    causes.push(invalidCause('spec.handler', handler, 'must be MODULE.FUNCTION, such as main.handler'));
  }
  const wanted = match ? candidates(match[1] ?? '', runtime) : [];
  if (isEmpty) causes.push(requiredCause('spec.files', 'the program of the function'));
  else if (match && !wanted.some((path) => Object.hasOwn(files, path)))
    causes.push(invalidCause('spec.handler', handler, `spec.files has no ${wanted.join(' or ')}`));
  return causes;
}

function validateSize(all: readonly (readonly [path: string, text: string])[]): StatusCause[] {
  const causes: StatusCause[] = [];
  if (all.length > maxFiles) {
    causes.push(invalidTogetherCause('spec.files', `may not be more than ${maxFiles} files`));
  }
  const bytes = all.reduce((sum, [path, text]) => sum + Buffer.byteLength(path) + Buffer.byteLength(text), 0);
  if (bytes > maxBytes) {
    const rule = `all files together may not be more than ${maxBytes} bytes, but are ${bytes}`;
    causes.push(invalidTogetherCause('spec.files', rule));
  }
  return causes;
}

/** Returns the files that may contain a module. */
export function candidates(module: string, runtime: Runtime): readonly string[] {
  if (runtime === 'python') {
    const path = module.replaceAll('.', '/');
    return [`${path}.py`, `${path}/__init__.py`];
  }
  return [`${module}.js`, `${module}.mjs`, `${module}.cjs`];
}

const isBase64 = (text: string) => /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0;

function validateFiles(files: Readonly<Record<string, string>>, at: string): StatusCause[] {
  return Object.keys(files).flatMap((path) => {
    const why = pathProblem(path);
    return why ? [invalidCause(`${at}[${path}]`, path, why)] : [];
  });
}

/**
 * Returns the reason why a file cannot have the path; undefined for a path that is safe to write below a
 * directory.
 */
export function pathProblem(path: string): string | undefined {
  if (path.length > maxPathLength) return `must have no more than ${maxPathLength} characters`;
  if (!/^[A-Za-z0-9._@+ -]+(?:\/[A-Za-z0-9._@+ -]+)*$/.test(path)) {
    return "must be a relative path of letters, digits, '-', '_', '.', '@', '+' and spaces, with '/' between its elements";
  }
  return path.split('/').some((element) => element === '.' || element === '..')
    ? "must not contain '.' or '..' as an element"
    : undefined;
}

/** Rejects a path that is both a file and a directory. */
function crossedPaths(paths: readonly string[]): StatusCause[] {
  const files = new Set(paths);
  return paths.flatMap((path) => {
    const parts = path.split('/');
    const crossed = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
    const file = crossed.find((folder) => files.has(folder));
    return file ? [invalidCause(`spec.files[${path}]`, path, `${file} is a file`)] : [];
  });
}

/** Rejects variables that the runtime sets. */
function reservedVariables(env: readonly { readonly name: string }[]): StatusCause[] {
  return env.flatMap(({ name }, index) =>
    name === 'PORT' || name.startsWith('FUNCTION_')
      ? [
          forbiddenCause(
            `spec.env[${index}].name`,
            'PORT and names that begin with FUNCTION_ are set by the cluster',
          ),
        ]
      : [],
  );
}

function validateNumbers(spec: Fn['spec']): StatusCause[] {
  const { timeoutSeconds, concurrency, minScale, maxScale } = spec;
  const { target = 1, windowSeconds = 1, idleSeconds = 1 } = spec;
  const causes = [
    ...between('timeoutSeconds', timeoutSeconds, 1, 3600),
    ...between('concurrency', concurrency, 1, 1000),
    ...between('minScale', minScale, 0, 1000),
    ...between('maxScale', maxScale, 1, 1000),
    ...between('target', target, 1, 1_000_000),
    ...between('windowSeconds', windowSeconds, 1, 3600),
    ...between('idleSeconds', idleSeconds, 1, 86_400),
  ];
  if (minScale > maxScale) {
    causes.push(invalidCause('spec.minScale', minScale, 'must not be greater than maxScale'));
  }
  return causes;
}

const between = (field: string, value: number, least: number, most: number) =>
  value >= least && value <= most
    ? []
    : [invalidCause(`spec.${field}`, value, `must be between ${least} and ${most}, inclusive`)];
