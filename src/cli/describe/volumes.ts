/** Volumes of pods, and the sources of persistent volumes. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { tryParseQuantity } from '../../apimachinery/quantity.ts';
import { recordAt, recordsAt, textAt } from '../objects/objects.ts';
import { claimLines } from './claims.ts';
import { amountText, goList, none, pairsText, shownAt, sorted, stringsAt, unset } from './lines.ts';

/** Returns the volumes of a pod; `indent` is empty, or two blanks for a template. */
export function volumeLines(volumes: readonly JsonObject[], indent: string): string[] {
  if (volumes.length === 0) return [`${indent}Volumes:\t${none}`];
  const inner = indent ? '   ' : '  ';
  return [
    `${indent}Volumes:`,
    ...volumes.flatMap((volume) => [`${inner}${textAt(volume, 'name')}:`, ...sourceLines(volume)]),
  ];
}

/** Returns the lines of the source that a volume or a persistent volume has. */
export function sourceLines(volume: JsonObject): string[] {
  for (const [field, { type, lines }] of Object.entries(sources)) {
    const source = volume[field];
    if (isRecord(source)) return [`    Type:\t${type}`, ...lines(source).map((line) => `    ${line}`)];
  }
  const other = Object.keys(volume).find((field) => isRecord(volume[field]));
  return [`  <unknown>${other ? `\t(${other})` : ''}`];
}

interface Source {
  /** Name and meaning, as kubectl words it. */
  readonly type: string;
  readonly lines: (source: JsonObject) => readonly string[];
}

const flag = (value: unknown) => String(value === true);
const readOnly = (source: JsonObject) => `ReadOnly:\t${flag(source.readOnly)}`;
const optional = (source: JsonObject) => `Optional:\t${flag(source.optional)}`;

/** Returns a function that shows fields under titles, in their order. */
const fields =
  (...titles: readonly (readonly [title: string, field: string])[]) =>
  (source: JsonObject): string[] => [
    ...titles.map(([title, field]) => `${title}:\t${shownAt(source, field)}`),
    readOnly(source),
  ];

const sources: Readonly<Record<string, Source>> = {
  hostPath: {
    type: 'HostPath (bare host directory volume)',
    lines: (source) => [
      `Path:\t${textAt(source, 'path')}`,
      // An empty type is a value, unlike a missing one.
      `HostPathType:\t${typeof source.type === 'string' ? source.type : none}`,
    ],
  },
  emptyDir: {
    type: "EmptyDir (a temporary directory that shares a pod's lifetime)",
    lines: (source) => {
      const limit = tryParseQuantity(shownAt(source, 'sizeLimit') || '0');
      const size = limit && limit.nano > 0n ? amountText(source.sizeLimit) : unset;
      return [`Medium:\t${textAt(source, 'medium')}`, `SizeLimit:\t${size}`];
    },
  },
  secret: {
    type: 'Secret (a volume populated by a Secret)',
    lines: (source) => [`SecretName:\t${textAt(source, 'secretName')}`, optional(source)],
  },
  configMap: {
    type: 'ConfigMap (a volume populated by a ConfigMap)',
    lines: (source) => [`Name:\t${textAt(source, 'name')}`, optional(source)],
  },
  nfs: {
    type: 'NFS (an NFS mount that lasts the lifetime of a pod)',
    lines: fields(['Server', 'server'], ['Path', 'path']),
  },
  persistentVolumeClaim: {
    type: 'PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)',
    lines: fields(['ClaimName', 'claimName']),
  },
  ephemeral: {
    type: 'EphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)',
    lines: (source) => (isRecord(source.volumeClaimTemplate) ? claimLines(source.volumeClaimTemplate) : []),
  },
  downwardAPI: {
    type: 'DownwardAPI (a volume populated by information about the pod)',
    lines: (source) => ['Items:', ...recordsAt(source, 'items').map(downwardItem)],
  },
  projected: {
    type: 'Projected (a volume that contains injected data from multiple sources)',
    lines: (source) => recordsAt(source, 'sources').flatMap(projectedLines),
  },
  local: {
    type: 'LocalVolume (a persistent volume backed by local storage on a node)',
    lines: (source) => [`Path:\t${textAt(source, 'path')}`],
  },
  csi: {
    type: 'CSI (a Container Storage Interface (CSI) volume source)',
    lines: (source) => [
      `Driver:\t${textAt(source, 'driver')}`,
      `FSType:\t${textAt(source, 'fsType')}`,
      ...(source.volumeHandle ? [`VolumeHandle:\t${textAt(source, 'volumeHandle')}`] : []),
      readOnly(source),
      ...attributeLines(recordAt(source, 'volumeAttributes')),
    ],
  },
  image: {
    type: 'Image (a container image or OCI artifact)',
    lines: (source) => [
      `Reference:\t${textAt(source, 'reference')}`,
      `PullPolicy:\t${textAt(source, 'pullPolicy')}`,
    ],
  },
  iscsi: {
    type: 'ISCSI (an iSCSI disk that the node attaches)',
    lines: fields(['TargetPortal', 'targetPortal'], ['IQN', 'iqn'], ['Lun', 'lun'], ['FSType', 'fsType']),
  },
  fc: {
    type: 'FC (a Fibre Channel disk)',
    lines: (source) => [
      `TargetWWNs:\t${stringsAt(source, 'targetWWNs').join(', ')}`,
      `LUN:\t${shownAt(source, 'lun') || none}`,
      `FSType:\t${textAt(source, 'fsType')}`,
      readOnly(source),
    ],
  },
  cephfs: {
    type: "CephFS (a CephFS mount on the host that shares a pod's lifetime)",
    lines: (source) => [
      `Monitors:\t${goList(stringsAt(source, 'monitors'))}`,
      `Path:\t${textAt(source, 'path')}`,
      `User:\t${textAt(source, 'user')}`,
      readOnly(source),
    ],
  },
  flexVolume: {
    type: 'FlexVolume (a volume of a driver that is an executable)',
    lines: (source) => [
      `Driver:\t${textAt(source, 'driver')}`,
      `FSType:\t${textAt(source, 'fsType')}`,
      readOnly(source),
      `Options:\t${pairsText(recordAt(source, 'options'))}`,
    ],
  },
};

function downwardItem(item: JsonObject): string {
  const from = textAt(item, 'fieldRef', 'fieldPath') || textAt(item, 'resourceFieldRef', 'resource');
  return `  ${from} -> ${textAt(item, 'path')}`;
}

/** Returns the lines of one source of a projected volume. */
function projectedLines(source: JsonObject): string[] {
  const { secret, configMap, serviceAccountToken } = source;
  if (isRecord(secret))
    return [`SecretName:\t${textAt(secret, 'name')}`, `SecretOptionalName:\t${flag(secret.optional)}`];
  if (isRecord(source.downwardAPI)) return ['DownwardAPI:\ttrue'];
  if (isRecord(configMap))
    return [
      `ConfigMapName:\t${textAt(configMap, 'name')}`,
      `ConfigMapOptional:\t${flag(configMap.optional)}`,
    ];
  if (isRecord(serviceAccountToken))
    return [`TokenExpirationSeconds:\t${shownAt(serviceAccountToken, 'expirationSeconds')}`];
  return [];
}

function attributeLines(attributes: JsonObject): string[] {
  const pairs = sorted(Object.keys(attributes)).map((key) => `${key}=${String(attributes[key])}`);
  if (pairs.length === 0) return [`VolumeAttributes:\t${none}`];
  return pairs.map((pair, index) => `${index === 0 ? 'VolumeAttributes:' : '    '}\t${pair}`);
}
