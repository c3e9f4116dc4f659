/** Log levels: one for all components, and others for selected components. Pure. */
import { nearest } from './nearest.ts';

/** Levels from the most to the least severe. */
export const logLevels = ['error', 'warn', 'info', 'debug'] as const;

export type LogLevel = (typeof logLevels)[number];

export interface LogLevels {
  readonly others: LogLevel;
  /**
   * Levels by component path as the log shows it, such as `kubelet/informer`; a level applies to all
   * components below the path.
   */
  readonly components: ReadonlyMap<string, LogLevel>;
}

const isLevel = (text: string): text is LogLevel => (logLevels as readonly string[]).includes(text);
const componentPath = /^[a-z0-9][a-z0-9.-]*(?:\/[a-z0-9][a-z0-9.-]*)*$/i;
const allowedLevels = [...logLevels].reverse().join(', ');
const shape = `expected one of ${allowedLevels}, or levels of components such as info,apiserver=debug,kubelet/informer=warn`;

/**
 * Parses a text such as `info,apiserver=debug`. Throws an Error that lists the allowed values; the default
 * level is info.
 */
export function parseLogLevels(text: string): LogLevels {
  let others: LogLevel | undefined;
  const components = new Map<string, LogLevel>();
  for (const part of text.split(',').map((one) => one.trim())) {
    if (isLevel(part)) {
      if (others !== undefined)
        throw new Error(`"${others}" and "${part}" are both for all components; give one`);
      others = part;
      continue;
    }
    const [name, checked] = componentLevel(part);
    if (components.has(name)) throw new Error(`component ${name} is given twice`);
    components.set(name, checked);
  }
  return { others: others ?? 'info', components };
}

/** Returns the component and its level from a text such as `apiserver=debug`. */
function componentLevel(part: string): readonly [name: string, level: LogLevel] {
  const [name = '', level, ...more] = part.split('=');
  if (level === undefined || more.length > 0) throw new Error(shapeProblem(part));
  return [name, levelOfComponent(name, level)];
}

function levelOfComponent(name: string, level: string): LogLevel {
  if (!componentPath.test(name))
    throw new Error(`"${name}" is no component; write it as the log shows it, such as kubelet/informer`);
  if (!isLevel(level))
    throw new Error(`"${level}" is no level for ${name}; expected one of ${allowedLevels}`);
  return level;
}

/** Returns the error message for a part that is neither a level nor a component with a level. */
function shapeProblem(part: string): string {
  if (part === '') return shape;
  return part.includes('=') ? `"${part}": ${shape}` : `"${part}" is no level; ${shape}`;
}

/** Returns the level of the longest configured path that contains the component. */
export function levelOf({ others, components }: LogLevels, component: string): LogLevel {
  for (let path = component; path !== ''; path = path.slice(0, Math.max(0, path.lastIndexOf('/')))) {
    const level = components.get(path);
    if (level !== undefined) return level;
  }
  return others;
}

/**
 * Returns one sentence for each configured component that has no logger: neither the component nor one below
 * it is among `loggers`, the paths of all loggers of the process. The sentence names similar components, or
 * else all that are not below another.
 */
export function unknownComponents({ components }: LogLevels, loggers: Iterable<string>): string[] {
  const known = withParents(loggers);
  return [...components.keys()]
    .filter((path) => !known.has(path))
    .map((path) => `no component is named "${path}"; ${suggestion(path, known)}`);
}

function suggestion(path: string, known: ReadonlySet<string>): string {
  const below = [...known].filter((one) => one.endsWith(`/${path}`)).slice(0, 3);
  const similar = below.length > 0 ? below : nearest(path, known);
  if (similar.length > 0) return `did you mean ${similar.join(' or ')}?`;
  const top = [...known].filter((one) => !one.includes('/')).sort();
  return `the components are ${top.join(', ')}`;
}

/** Returns the paths and every path above one of them. */
function withParents(paths: Iterable<string>): ReadonlySet<string> {
  return new Set(
    [...paths].flatMap((path) => {
      const parts = path.split('/');
      return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
    }),
  );
}
