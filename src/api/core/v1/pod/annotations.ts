/**
 * Pod annotations with a function: AppArmor profiles in the older form (upstream: applyAppArmorVersionSkew,
 * ValidateAppArmorPodAnnotations). A new pod's annotation is copied to the field, which is the only form that
 * is read later; therefore the annotation is immutable.
 */
import { forbiddenCause, invalidCause } from '../../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import type { AppArmorProfile, Pod, PodSpec } from '../types.gen.ts';

/** Prefix of the annotation, followed by the name of a container. */
export const appArmorAnnotation = 'container.apparmor.security.beta.kubernetes.io/';
const localhost = 'localhost/';

const containersOf = ({ initContainers = [], containers, ephemeralContainers = [] }: PodSpec) => [
  ...initContainers,
  ...containers,
  ...ephemeralContainers,
];

/** Sets the field of containers that have only the annotation. */
export function takeAppArmorAnnotations({ metadata, spec }: Pod): void {
  if (spec.os?.name === 'windows') return;
  for (const container of containersOf(spec)) {
    const profile = profileOf(metadata.annotations?.[`${appArmorAnnotation}${container.name}`]);
    if (!profile || container.securityContext?.appArmorProfile) continue;
    container.securityContext = { ...container.securityContext, appArmorProfile: profile };
  }
}

function profileOf(value: string | undefined): AppArmorProfile | undefined {
  if (value === 'runtime/default') return { type: 'RuntimeDefault' };
  if (value === 'unconfined') return { type: 'Unconfined' };
  const localhostProfile = value?.startsWith(localhost) ? value.slice(localhost.length) : '';
  return localhostProfile === '' ? undefined : { type: 'Localhost', localhostProfile };
}

export function validateAppArmorAnnotations(
  { annotations = {} }: { readonly annotations?: Readonly<Record<string, string>> | undefined },
  spec: PodSpec,
  path: string,
): StatusCause[] {
  const found = Object.entries(annotations).filter(([key]) => key.startsWith(appArmorAnnotation));
  if (found.length === 0) return [];
  const names = new Set(containersOf(spec).map(({ name }) => name));
  return found.flatMap(([key, value]) => {
    const at = `${path}[${key}]`;
    const name = key.slice(appArmorAnnotation.length);
    const causes = names.has(name) ? [] : [invalidCause(at, name, 'container not found')];
    const isKnown = ['', 'runtime/default', 'unconfined'].includes(value) || value.startsWith(localhost);
    const why = `invalid AppArmor profile name: ${JSON.stringify(value)}`;
    return isKnown ? causes : [...causes, invalidCause(at, value, why)];
  });
}

/** Rejects a new pod whose annotation and field differ. */
export function appArmorConflicts({ metadata, spec }: Pod): StatusCause[] {
  if (spec.os?.name === 'windows') return [];
  return (['initContainers', 'containers'] as const).flatMap((list) =>
    (spec[list] ?? []).flatMap(({ name, securityContext }, index) => {
      const field = securityContext?.appArmorProfile ?? spec.securityContext.appArmorProfile;
      const annotation = metadata.annotations?.[`${appArmorAnnotation}${name}`];
      if (!field || annotation === undefined) return [];
      const at = `spec.${list}[${index}].securityContext.appArmorProfile`;
      return sameProfile(profileOf(annotation), field, at);
    }),
  );
}

function sameProfile(
  annotation: AppArmorProfile | undefined,
  field: AppArmorProfile,
  at: string,
): StatusCause[] {
  if (annotation?.type !== field.type)
    return [forbiddenCause(`${at}.type`, 'apparmor type in annotation and field must match')];
  return annotation.localhostProfile === field.localhostProfile
    ? []
    : [forbiddenCause(`${at}.localhostProfile`, 'apparmor profile in annotation and field must match')];
}

/** Annotation of mirror pods, with which an agent represents static pods from files of its machine. */
export const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** Rejects changes of these annotations on an existing pod. */
export function fixedAnnotations({ metadata }: Pod, { metadata: old }: Pod): StatusCause[] {
  const [after, before] = [metadata.annotations ?? {}, old.annotations ?? {}];
  const changed = Object.keys({ ...before, ...after }).filter((key) => before[key] !== after[key]);
  return changed.flatMap((key) => {
    const what = key.startsWith(appArmorAnnotation)
      ? 'AppArmor annotations'
      : key === mirrorAnnotation && 'mirror pod annotation';
    if (!what) return [];
    const verb = before[key] === undefined ? 'add' : 'remove or update';
    return [forbiddenCause(`metadata.annotations[${key}]`, `may not ${verb} ${what}`)];
  });
}

/**
 * Returns warnings for deprecated annotations. A template that also has the AppArmor field gets no warning
 * for AppArmor's annotation; a pod always has the field at this point.
 */
export function profileWarnings(
  annotations: Readonly<Record<string, string>>,
  spec: PodSpec,
  path: string,
  isTemplate: boolean,
): string[] {
  const warnings: string[] = [];
  const warnOf = (key: string, text: string) => {
    if (annotations[key] !== undefined) warnings.push(`${path}[${key}]: ${text}`);
  };
  const noSeccomp = 'non-functional in v1.27+; use the "seccompProfile" field instead';
  const oldAppArmor = 'deprecated since v1.30; use the "appArmorProfile" field instead';
  const { seccompProfile, appArmorProfile } = spec.securityContext ?? {};
  if (!seccompProfile) warnOf('seccomp.security.alpha.kubernetes.io/pod', noSeccomp);
  for (const { name, securityContext } of containersOf(spec)) {
    if (!securityContext?.seccompProfile)
      warnOf(`container.seccomp.security.alpha.kubernetes.io/${name}`, noSeccomp);
    const hasField = appArmorProfile ?? securityContext?.appArmorProfile;
    if (!(isTemplate && hasField)) warnOf(`${appArmorAnnotation}${name}`, oldAppArmor);
  }
  return warnings;
}
