/** The names that the client of a connection and the control plane share. Pure. */

/** On the pods of clients. */
export const slurmClientLabel = 'minik8s.io/slurm-client';
/** On the same: the name of the Secret of the connection. */
export const slurmSecretAnnotation = 'minik8s.io/slurm-secret';
/** The account of clients, in the namespace of the jobs, and the binding of its role. */
export const slurmClientAccount = 'minik8s-slurm-client';
/** What the account may do in its namespace. */
export const slurmClientRole = 'minik8s:slurm-client';
/** Where the Secret is in the pod. */
export const slurmConnectionDirectory = '/connection';
/** Which of its keys are there: the others stay unknown to the pod. */
export const slurmConnectionKeys = [
  'host',
  'port',
  'user',
  'password',
  'privateKey',
  'passphrase',
  'knownHosts',
] as const;

/** A Secret may have a name of 253 characters, and a Lease too. */
export const slurmClientLease = (secretName: string) =>
  `minik8s-slurm.${secretName}`.slice(0, 253).replace(/[.-]+$/, '');
