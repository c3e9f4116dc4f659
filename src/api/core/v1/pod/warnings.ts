/**
 * Warnings for the author of an accepted pod or pod template (upstream: pkg/api/pod/warnings.go; the texts
 * are upstream's, which tools compare). Pure. `path` is the template's, and '' for a pod.
 */

import { portWarnings } from '../container/port-warnings.ts';
import { deprecationOf, expressionWarnings } from '../deprecated-labels.ts';
import type { Container, Pod, PodSpec, Volume } from '../types.gen.ts';
import { claimSpecWarnings, fractionWarnings } from '../volume/claim-warnings.ts';
import { overlapWarnings } from '../volume/overlaps.ts';
import { profileWarnings } from './annotations.ts';
import { hostnameWarnings } from './names.ts';

interface PodLike {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> | undefined } | undefined;
  readonly spec: PodSpec;
}

export function podWarnings({ metadata, spec }: PodLike, path = ''): string[] {
  const at = path === '' ? '' : `${path}.`;
  const annotations = metadata?.annotations ?? {};
  return [
    ...labelWarnings(spec, `${at}spec`),
    ...annotationWarnings(annotations, `${at}metadata.annotations`),
    ...(spec.volumes ?? []).flatMap((volume, index) => sourceWarnings(volume, `${at}spec.volumes[${index}]`)),
    ...overlapWarnings(spec.volumes ?? []),
    ...repeated(spec.hostAliases ?? [], ({ ip }) => ip).map(
      ([index, ip]) => `${at}spec.hostAliases[${index}].ip: duplicate ip ${JSON.stringify(ip)}`,
    ),
    ...pullSecretWarnings(spec, `${at}spec.imagePullSecrets`),
    ...fractionWarnings(spec.overhead, `${at}spec.overhead`, ['memory', 'ephemeral-storage']),
    ...profileWarnings(annotations, spec, `${at}metadata.annotations`, path !== ''),
    ...containersOf(spec, `${at}spec`).flatMap(({ container, path: place }) => [
      ...['memory', 'ephemeral-storage'].flatMap((name) =>
        (['limits', 'requests'] as const).flatMap((field) =>
          fractionWarnings(container.resources?.[field], `${place}.resources.${field}`, [name]),
        ),
      ),
      ...envWarnings(container, place),
    ]),
    ...portWarnings(containersOf(spec, `${at}spec`)),
    ...((spec.terminationGracePeriodSeconds ?? 0) < 0
      ? [
          `${at}spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
        ]
      : []),
    ...affinityWarnings(spec, `${at}spec.affinity`),
  ];
}

/** Returns the warnings of a new pod; none for an update, whose author is usually a program. */
export function newPodWarnings(pod: Pod, old: Pod | undefined): string[] {
  return old ? [] : [...hostnameWarnings(pod), ...podWarnings(pod)];
}

/** Returns a function for the warnings of a kind with a template: for a new object, and for a changed one. */
export const templateWarnings =
  <T extends { readonly metadata: { readonly generation?: number | undefined } }>(
    templateOf: (object: T) => PodLike | undefined,
    path: string,
  ) =>
  (object: T, old: T | undefined): string[] => {
    const template = templateOf(object);
    const same = old && object.metadata.generation === old.metadata.generation;
    return same || !template ? [] : podWarnings(template, path);
  };

interface PlacedContainer {
  readonly container: Container;
  readonly path: string;
}

/** Returns the containers in upstream's order. */
const containersOf = (spec: PodSpec, path: string): PlacedContainer[] =>
  (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((list) =>
    ((spec[list] ?? []) as readonly Container[]).map((container, index) => ({
      container,
      path: `${path}.${list}[${index}]`,
    })),
  );

function labelWarnings(
  { nodeSelector, affinity, topologySpreadConstraints }: PodSpec,
  path: string,
): string[] {
  const {
    requiredDuringSchedulingIgnoredDuringExecution: required,
    preferredDuringSchedulingIgnoredDuringExecution: preferred,
  } = affinity?.nodeAffinity ?? {};
  const place = `${path}.affinity.nodeAffinity`;
  return [
    ...Object.keys(nodeSelector ?? {}).flatMap((label) => {
      const why = deprecationOf(label);
      return why === undefined ? [] : [`${path}.nodeSelector[${label}]: ${why}`];
    }),
    ...(required?.nodeSelectorTerms ?? []).flatMap(({ matchExpressions }, index) =>
      expressionWarnings(
        matchExpressions,
        `${place}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[${index}].matchExpressions`,
      ),
    ),
    ...(preferred ?? []).flatMap(({ preference }, index) =>
      expressionWarnings(
        preference.matchExpressions,
        `${place}.preferredDuringSchedulingIgnoredDuringExecution[${index}].preference.matchExpressions`,
      ),
    ),
    ...(topologySpreadConstraints ?? []).flatMap(({ topologyKey, labelSelector }, index) => {
      const one = `${path}.topologySpreadConstraints[${index}]`;
      const why = deprecationOf(topologyKey);
      return [
        ...(why === undefined ? [] : [`${one}.topologyKey: ${topologyKey} is ${why}`]),
        ...(labelSelector ? [] : [noSelector(`${one}.labelSelector`)]),
      ];
    }),
  ];
}

const noSelector = (path: string) => `${path}: a null labelSelector results in matching no pod`;

const oldAnnotations: Readonly<Record<string, string>> = {
  'scheduler.alpha.kubernetes.io/critical-pod':
    'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
};

const annotationWarnings = (annotations: Readonly<Record<string, string>>, path: string): string[] =>
  Object.entries(oldAnnotations).flatMap(([key, why]) =>
    annotations[key] === undefined ? [] : [`${path}[${key}]: ${why}`],
  );

const oldSources: readonly (readonly [keyof Volume, string])[] = [
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'deprecated in v1.11'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

/** Returns the name that upstream prints, which is that of its own type. */
const nameOf = (source: string) => (source === 'storageos' ? 'storageOS' : source);

function sourceWarnings(volume: Volume, path: string): string[] {
  const claim = volume.ephemeral?.volumeClaimTemplate?.spec;
  return [
    ...oldSources.flatMap(([source, why]) => (volume[source] ? [`${path}.${nameOf(source)}: ${why}`] : [])),
    ...(claim ? claimSpecWarnings(claim, `${path}.ephemeral.volumeClaimTemplate.spec`) : []),
  ];
}

/** Returns the items whose key occurred before, with their index. */
function repeated<T>(items: readonly T[], keyOf: (item: T) => string): [number, string][] {
  const seen = new Set<string>();
  return items.flatMap((item, index): [number, string][] => {
    const key = keyOf(item);
    if (seen.has(key)) return [[index, key]];
    seen.add(key);
    return [];
  });
}

function pullSecretWarnings({ imagePullSecrets = [] }: PodSpec, path: string): string[] {
  const nameOf = ({ name }: { readonly name?: string | undefined }) => name ?? '';
  return [
    ...repeated(imagePullSecrets, nameOf).map(
      ([index, name]) => `${path}[${index}].name: duplicate name ${JSON.stringify(name)}`,
    ),
    ...imagePullSecrets.flatMap((secret, index) =>
      nameOf(secret) === '' ? [`${path}[${index}].name: invalid empty name ""`] : [],
    ),
  ];
}

/** Returns warnings for duplicate variables. A later value may extend the earlier one: X=a, X=$(X)b. */
function envWarnings({ env = [] }: Container, path: string): string[] {
  const seen = new Set<string>();
  return env.flatMap(({ name, value = '', valueFrom }, index) => {
    const reference = `$(${name})`;
    const isNew = !seen.has(name);
    seen.add(name);
    const goesOn = !valueFrom && value !== reference && value.includes(reference);
    return isNew || goesOn
      ? []
      : [
          `${path}.env[${index}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`,
        ];
  });
}

function affinityWarnings({ affinity }: PodSpec, path: string): string[] {
  return (['podAffinity', 'podAntiAffinity'] as const).flatMap((field) => {
    const {
      requiredDuringSchedulingIgnoredDuringExecution: required = [],
      preferredDuringSchedulingIgnoredDuringExecution: preferred = [],
    } = affinity?.[field] ?? {};
    return [
      ...required.flatMap(({ labelSelector }, index) =>
        labelSelector
          ? []
          : [
              noSelector(
                `${path}.${field}.requiredDuringSchedulingIgnoredDuringExecution[${index}].labelSelector`,
              ),
            ],
      ),
      ...preferred.flatMap(({ podAffinityTerm }, index) =>
        podAffinityTerm.labelSelector
          ? []
          : [
              noSelector(
                `${path}.${field}.preferredDuringSchedulingIgnoredDuringExecution[${index}].podAffinityTerm.labelSelector`,
              ),
            ],
      ),
    ];
  });
}
