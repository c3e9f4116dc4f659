/** Service managers that an installation supports, and the service's name and commands in each. */

export const serviceManagers = ['systemd', 'openrc'] as const;
export type ServiceManager = (typeof serviceManagers)[number];

/** A service of a service manager. */
export interface Service {
  readonly manager: ServiceManager;
  readonly name: string;
}

/** Directory that exists while the service manager runs this machine. */
export const runtimeDirectoryOf: Readonly<Record<ServiceManager, string>> = {
  systemd: '/run/systemd/system',
  openrc: '/run/openrc',
};

/** The service that an installation makes. */
export const ownServiceOf: Readonly<Record<ServiceManager, Service>> = {
  systemd: { manager: 'systemd', name: 'minik8s.service' },
  openrc: { manager: 'openrc', name: 'minik8s' },
};

/** Returns the words of a command about a service. */
export const serviceWords = (
  { manager, name }: Service,
  verb: 'start' | 'stop' | 'restart' | 'status',
): readonly [string, ...string[]] =>
  manager === 'systemd' ? ['systemctl', verb, name] : ['rc-service', name, verb];

/** Returns the command as a user types it. */
export const serviceCommand = (...request: Parameters<typeof serviceWords>): string =>
  serviceWords(...request).join(' ');
