/**
 * Parses the Pod Security labels of a namespace
 * (https://kubernetes.io/docs/concepts/security/pod-security-admission/).
 */
import { invalidCause } from '../../apimachinery/field-error.ts';
import type { StatusCause } from '../../apimachinery/status-error.ts';

/** Levels, from the least to the most restrictive. */
export const levels = ['privileged', 'baseline', 'restricted'] as const;
export type Level = (typeof levels)[number];

/** The minor number of a version of Kubernetes 1. */
export type Version = number | 'latest';

export interface LevelVersion {
  readonly level: Level;
  readonly version: Version;
}

export const modes = ['enforce', 'audit', 'warn'] as const;

/** Levels at which pods are rejected, audited, and warned about. */
export type Policy = Readonly<Record<(typeof modes)[number], LevelVersion>>;

type Labels = Readonly<Record<string, string>>;

const prefix = 'pod-security.kubernetes.io/';

export const readLevel = (text: string): Level | undefined => levels.find((level) => level === text);

export function readVersion(text: string): Version | undefined {
  if (text === 'latest') return text;
  const minor = Number(/^v1\.(0|[1-9][0-9]*)$/.exec(text)?.[1]);
  return Number.isSafeInteger(minor) ? minor : undefined;
}

export const levelProblem = `must be one of ${levels.join(', ')}`;
export const versionProblem = 'must be "latest" or "v1.x"';

/** Formats a level: `restricted:latest`, `baseline:v1.25`. */
export const written = ({ level, version }: LevelVersion): string =>
  `${level}:${version === 'latest' ? version : `v1.${version}`}`;

/** Level for a label that cannot be parsed: the most restrictive for enforce, none otherwise. */
const unreadable = { enforce: 'restricted', audit: 'privileged', warn: 'privileged' } as const;

/** Returns the policy and a cause for every label that cannot be parsed. */
export function policyOf(
  labels: Labels,
  defaults: Policy,
): { readonly policy: Policy; readonly causes: StatusCause[] } {
  const causes: StatusCause[] = [];
  const policy = { ...defaults };
  for (const mode of modes) {
    const level = read(labels, `${prefix}${mode}`, readLevel, levelProblem, causes);
    const version = read(labels, `${prefix}${mode}-version`, readVersion, versionProblem, causes);
    policy[mode] = {
      level: level === 'unreadable' ? unreadable[mode] : (level ?? defaults[mode].level),
      version: version === 'unreadable' ? 'latest' : (version ?? defaults[mode].version),
    };
  }
  return { policy: { ...policy, warn: warnOf(labels, policy) }, causes };
}

/**
 * Returns the level of warnings. A namespace that sets enforce but not warn is warned at the enforced level,
 * for templates, which are never rejected.
 */
function warnOf(labels: Labels, { enforce, warn }: Policy): LevelVersion {
  const own = labels[`${prefix}enforce`];
  if (labels[`${prefix}warn`] !== undefined || own === undefined || readLevel(own) === undefined) return warn;
  if (!isStricter(enforce.level, warn.level)) return warn;
  const hasVersion = labels[`${prefix}warn-version`] !== undefined;
  return { level: enforce.level, version: hasVersion ? warn.version : enforce.version };
}

function read<T>(
  labels: Labels,
  label: string,
  parse: (text: string) => T | undefined,
  problem: string,
  causes: StatusCause[],
): T | 'unreadable' | undefined {
  const text = labels[label];
  if (text === undefined) return undefined;
  const value = parse(text);
  if (value !== undefined) return value;
  causes.push(invalidCause(`metadata.labels[${label}]`, text, problem));
  return 'unreadable';
}

export const isStricter = (level: Level, than: Level): boolean =>
  levels.indexOf(level) > levels.indexOf(than);

export const isSame = (a: LevelVersion, b: LevelVersion): boolean =>
  a.level === b.level && a.version === b.version;

export const isPrivileged = (policy: Policy): boolean =>
  modes.every((mode) => policy[mode].level === 'privileged');

/**
 * Formats the modes that the namespace itself sets and that are not privileged, as
 * `enforce=restricted:latest, warn=…`.
 */
export const ownModes = (labels: Labels, policy: Policy): string =>
  modes
    .filter((mode) => policy[mode].level !== 'privileged')
    .filter((mode) => (labels[`${prefix}${mode}`] ?? labels[`${prefix}${mode}-version`]) !== undefined)
    .map((mode) => `${mode}=${written(policy[mode])}`)
    .join(', ');

/** Returns whether two policies allow the same pods. */
export const isEquivalent = (policy: Policy, other: Policy): boolean =>
  modes.every(
    (mode) =>
      isSame(policy[mode], other[mode]) ||
      (policy[mode].level === 'privileged' && other[mode].level === 'privileged'),
  );
