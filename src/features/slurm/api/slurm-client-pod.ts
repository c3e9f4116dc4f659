/** Names that the client of a connection and the control plane share. Pure. */

/** Label of client pods. */
export const slurmClientLabel = 'minik8s.io/slurm-client';
/** Annotation of client pods: the name of the connection's Secret. */
export const slurmSecretAnnotation = 'minik8s.io/slurm-secret';
/** Name of the clients' account, in the namespace of the jobs, and of its role binding. */
export const slurmClientAccount = 'minik8s-slurm-client';
/** Role of the account in its namespace. */
export const slurmClientRole = 'minik8s:slurm-client';
/** Mount path of the Secret in the pod. */
export const slurmConnectionDirectory = '/connection';
/** Keys of the Secret that are mounted; other keys are not visible to the pod. */
export const slurmConnectionKeys = [
  'host',
  'port',
  'user',
  'password',
  'privateKey',
  'passphrase',
  'knownHosts',
] as const;

/**
 * Returns the name of the Lease, cut to 253 characters, because the name of a Secret alone may have that
 * many.
 */
export const slurmClientLease = (secretName: string) =>
  `minik8s-slurm.${secretName}`.slice(0, 253).replace(/[.-]+$/, '');
