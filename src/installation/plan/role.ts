/** Roles that a machine can be installed in, and what each needs. */

export const roles = ['up', 'master', 'node'] as const;
export type Role = (typeof roles)[number];

/** Configuration file that each role reads at its start. */
export const configFileOf: Readonly<Record<Role, string>> = {
  up: '/etc/minik8s/master.yaml',
  master: '/etc/minik8s/master.yaml',
  node: '/etc/minik8s/node.yaml',
};

/** Socket of the Docker engine that packages install. */
export const usualDockerSocket = '/var/run/docker.sock';

/** Returns true for a role that runs pods, and so needs a Docker engine and the programs of a node. */
export const runsPods = (role: Role): boolean => role !== 'master';
