/** The service manager that runs this machine, and the commands to it. */
import { existsSync } from 'node:fs';
import { openrcControl } from './openrc-control.ts';
import {
  ownServiceOf,
  runtimeDirectoryOf,
  type Service,
  type ServiceManager,
  serviceManagers,
} from './plan/service-manager.ts';
import type { ServiceControl } from './service-control.ts';
import { systemdControl } from './systemd-control.ts';

const controls: Readonly<Record<ServiceManager, ServiceControl>> = {
  systemd: systemdControl,
  openrc: openrcControl,
};

export const controlOf = (manager: ServiceManager): ServiceControl => controls[manager];

/** Returns the service manager that runs this machine; undefined if it is another one. */
export const serviceManagerHere = (): ServiceManager | undefined =>
  serviceManagers.find((manager) => existsSync(runtimeDirectoryOf[manager]));

/** Returns the commands of the service manager of this machine; those of systemd if it has none. */
export const controlHere = (): ServiceControl => controlOf(serviceManagerHere() ?? 'systemd');

/** Returns the service of minik8s in the service manager of this machine; in systemd if it has none. */
export const serviceHere = (): Service => ownServiceOf[serviceManagerHere() ?? 'systemd'];
