/** The pod specification, shared by Pod and by every kind with a pod template. */
import * as v from 'valibot';
import { int32, int64, quantity, stringMap, struct } from '../../../apimachinery/schema.ts';

const resourceFieldSelector = struct({
  /** Default: the container itself. */
  containerName: v.optional(v.string()),
  resource: v.string(),
  /** Zero counts as 1. */
  divisor: v.optional(quantity()),
});

const envVarSource = struct({
  fieldRef: v.optional(struct({ apiVersion: v.optional(v.string(), 'v1'), fieldPath: v.string() })),
  resourceFieldRef: v.optional(resourceFieldSelector),
  configMapKeyRef: v.optional(
    struct({ name: v.string(), key: v.string(), optional: v.optional(v.boolean()) }),
  ),
  secretKeyRef: v.optional(struct({ name: v.string(), key: v.string(), optional: v.optional(v.boolean()) })),
});

const envVar = struct({
  name: v.string(),
  value: v.optional(v.string()),
  valueFrom: v.optional(envVarSource),
});

const envFromSource = struct({
  prefix: v.optional(v.string()),
  configMapRef: v.optional(struct({ name: v.string(), optional: v.optional(v.boolean()) })),
  secretRef: v.optional(struct({ name: v.string(), optional: v.optional(v.boolean()) })),
});

const containerPort = struct({
  name: v.optional(v.string()),
  containerPort: int32(),
  hostPort: v.optional(int32()),
  hostIP: v.optional(v.string()),
  protocol: v.optional(v.picklist(['TCP', 'UDP', 'SCTP']), 'TCP'),
});

const volumeMount = struct({
  name: v.string(),
  mountPath: v.string(),
  readOnly: v.optional(v.boolean()),
  subPath: v.optional(v.string()),
  /** A subPath in which `$(NAME)` is a variable of the container. */
  subPathExpr: v.optional(v.string()),
});

const resources = struct({
  limits: v.optional(v.record(v.string(), quantity())),
  requests: v.optional(v.record(v.string(), quantity())),
});

const profileTypes = v.picklist(['Localhost', 'RuntimeDefault', 'Unconfined']);
const seLinuxOptions = struct({
  user: v.optional(v.string()),
  role: v.optional(v.string()),
  type: v.optional(v.string()),
  level: v.optional(v.string()),
});
const confinement = {
  seLinuxOptions: v.optional(seLinuxOptions),
  runAsNonRoot: v.optional(v.boolean()),
  seccompProfile: v.optional(struct({ type: profileTypes })),
  appArmorProfile: v.optional(struct({ type: profileTypes })),
};

const securityContext = struct({
  ...confinement,
  privileged: v.optional(v.boolean()),
  allowPrivilegeEscalation: v.optional(v.boolean()),
  runAsUser: v.optional(int64()),
  runAsGroup: v.optional(int64()),
  readOnlyRootFilesystem: v.optional(v.boolean()),
  capabilities: v.optional(
    struct({ add: v.optional(v.array(v.string())), drop: v.optional(v.array(v.string())) }),
  ),
});

const containerSchema = struct({
  name: v.string(),
  image: v.optional(v.string(), ''),
  imagePullPolicy: v.optional(v.picklist(['Always', 'IfNotPresent', 'Never'])),
  command: v.optional(v.array(v.string())),
  args: v.optional(v.array(v.string())),
  workingDir: v.optional(v.string()),
  env: v.optional(v.array(envVar)),
  envFrom: v.optional(v.array(envFromSource)),
  ports: v.optional(v.array(containerPort)),
  resources: v.optional(resources, {}),
  volumeMounts: v.optional(v.array(volumeMount)),
  securityContext: v.optional(securityContext),
  stdin: v.optional(v.boolean()),
  stdinOnce: v.optional(v.boolean()),
  tty: v.optional(v.boolean()),
  terminationMessagePath: v.optional(v.string(), '/dev/termination-log'),
  terminationMessagePolicy: v.optional(v.picklist(['File', 'FallbackToLogsOnError']), 'File'),
});

const volume = struct({
  name: v.string(),
  emptyDir: v.optional(struct({ medium: v.optional(v.string()), sizeLimit: v.optional(quantity()) })),
  hostPath: v.optional(struct({ path: v.string(), type: v.optional(v.string(), '') })),
});

const toleration = struct({
  key: v.optional(v.string()),
  operator: v.optional(v.picklist(['Exists', 'Equal'])),
  value: v.optional(v.string()),
  effect: v.optional(v.picklist(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])),
  tolerationSeconds: v.optional(int64()),
});

const hostAlias = struct({ ip: v.string(), hostnames: v.optional(v.array(v.string())) });

const dnsConfig = struct({
  nameservers: v.optional(v.array(v.string())),
  searches: v.optional(v.array(v.string())),
  options: v.optional(v.array(struct({ name: v.optional(v.string()), value: v.optional(v.string()) }))),
});

const podSecurityContext = struct({
  ...confinement,
  runAsUser: v.optional(int64()),
  runAsGroup: v.optional(int64()),
  supplementalGroups: v.optional(v.array(int64())),
  /** Owns the volumes made for the pod; its processes are in it. */
  fsGroup: v.optional(int64()),
  fsGroupChangePolicy: v.optional(v.picklist(['Always', 'OnRootMismatch'])),
  sysctls: v.optional(v.array(struct({ name: v.string(), value: v.string() }))),
});

const nodeSelectorRequirement = struct({
  key: v.string(),
  operator: v.picklist(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']),
  values: v.optional(v.array(v.string())),
});
const nodeSelectorTerm = struct({
  matchExpressions: v.optional(v.array(nodeSelectorRequirement)),
  matchFields: v.optional(v.array(nodeSelectorRequirement)),
});
const nodeAffinity = struct({
  requiredDuringSchedulingIgnoredDuringExecution: v.optional(
    struct({ nodeSelectorTerms: v.array(nodeSelectorTerm) }),
  ),
  preferredDuringSchedulingIgnoredDuringExecution: v.optional(
    v.array(struct({ weight: int32(), preference: nodeSelectorTerm })),
  ),
});

const topologySpreadConstraint = struct({
  whenUnsatisfiable: v.picklist(['DoNotSchedule', 'ScheduleAnyway']),
});

export const podSpecSchema = struct({
  /** Counted from status.startTime; then the pod fails. */
  activeDeadlineSeconds: v.optional(int64()),
  /** Gates that must be removed before the pod is scheduled. */
  schedulingGates: v.optional(v.array(struct({ name: v.string() }))),
  /** Conditions, set by other programs, that must be true before the pod is ready. */
  readinessGates: v.optional(v.array(struct({ conditionType: v.string() }))),
  topologySpreadConstraints: v.optional(v.array(topologySpreadConstraint)),
  nodeName: v.optional(v.string()),
  nodeSelector: v.optional(stringMap()),
  affinity: v.optional(struct({ nodeAffinity: v.optional(nodeAffinity) })),
  schedulerName: v.optional(v.string(), 'default-scheduler'),
  hostNetwork: v.optional(v.boolean()),
  hostPID: v.optional(v.boolean()),
  hostIPC: v.optional(v.boolean()),
  shareProcessNamespace: v.optional(v.boolean()),
  restartPolicy: v.optional(v.picklist(['Always', 'OnFailure', 'Never']), 'Always'),
  terminationGracePeriodSeconds: v.optional(int64(), 30),
  dnsPolicy: v.optional(
    v.picklist(['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None']),
    'ClusterFirst',
  ),
  dnsConfig: v.optional(dnsConfig),
  hostname: v.optional(v.string()),
  /** The headless Service below whose name the pod has its host name. */
  subdomain: v.optional(v.string()),
  setHostnameAsFQDN: v.optional(v.boolean()),
  /** More lines of the pod's /etc/hosts. */
  hostAliases: v.optional(v.array(hostAlias)),
  serviceAccountName: v.optional(v.string()),
  /** Default true, of a pod: the Services of its namespace are variables of its containers. */
  enableServiceLinks: v.optional(v.boolean()),
  /** The older name of serviceAccountName. */
  serviceAccount: v.optional(v.string()),
  priorityClassName: v.optional(v.string()),
  priority: v.optional(int32()),
  securityContext: v.optional(podSecurityContext, {}),
  tolerations: v.optional(v.array(toleration)),
  volumes: v.optional(v.array(volume)),
  containers: v.array(containerSchema),
});

/** A template is not an object: its metadata is that of its pods. */
const templateMetaSchema = struct({
  labels: v.optional(stringMap()),
  annotations: v.optional(stringMap()),
  finalizers: v.optional(v.array(v.string())),
});

export const podTemplateSchema = struct({
  metadata: v.optional(templateMetaSchema, {}),
  spec: podSpecSchema,
});

export type PodSpec = v.InferOutput<typeof podSpecSchema>;
export type PodTemplateSpec = v.InferOutput<typeof podTemplateSchema>;
export type Container = v.InferOutput<typeof containerSchema>;
export type ContainerPort = v.InferOutput<typeof containerPort>;
export type EnvVar = v.InferOutput<typeof envVar>;
export type ResourceFieldSelector = v.InferOutput<typeof resourceFieldSelector>;
export type Volume = v.InferOutput<typeof volume>;
export type VolumeMount = v.InferOutput<typeof volumeMount>;
export type NodeSelectorTerm = v.InferOutput<typeof nodeSelectorTerm>;
export type Toleration = v.InferOutput<typeof toleration>;
