/** Steps of an installation or of its removal, as data; carry-out.ts performs them. */
import type { PackageManager } from './packages.ts';
import { ownServiceOf, type ServiceManager } from './service-manager.ts';

export type Step =
  | { readonly kind: 'install-packages'; readonly manager: PackageManager; readonly names: readonly string[] }
  | { readonly kind: 'make-directory'; readonly path: string }
  | { readonly kind: 'copy-file'; readonly from: string; readonly path: string }
  | { readonly kind: 'write-file'; readonly path: string; readonly content: string; readonly mode: number }
  | { readonly kind: 'make-link'; readonly path: string; readonly target: string }
  | { readonly kind: 'load-modules'; readonly names: readonly string[] }
  | { readonly kind: 'set-sysctl'; readonly name: string; readonly value: string }
  | { readonly kind: 'start-docker'; readonly manager: ServiceManager }
  | { readonly kind: 'reload-services' }
  | { readonly kind: 'enable-service'; readonly manager: ServiceManager }
  /** `timeoutMs`: milliseconds until the service is ready; undefined: as long as it takes. */
  | { readonly kind: 'restart-service'; readonly manager: ServiceManager; readonly timeoutMs?: number }
  | { readonly kind: 'remove-service'; readonly manager: ServiceManager }
  /** Removes a directory of minik8s alone, with all that it holds. */
  | { readonly kind: 'remove-directory'; readonly path: string }
  | {
      readonly kind: 'reset';
      readonly keepData: boolean;
      readonly dataDir: string;
      readonly dockerSocket: string;
      /** Path of the configuration file; undefined if there is none. */
      readonly config: string | undefined;
    }
  | { readonly kind: 'remove-path'; readonly path: string }
  | { readonly kind: 'remove-empty-directory'; readonly path: string };

/** Returns a line about the step for the user; undefined for a step that follows from another one. */
export function describeStep(step: Step): string | undefined {
  return texts[step.kind](step as never);
}

const dockerOf = { systemd: 'docker.service', openrc: 'the service docker' } as const;

const nameOf = (manager: ServiceManager): string => {
  const { name } = ownServiceOf[manager];
  return manager === 'systemd' ? name : `the service ${name}`;
};

type Texts = {
  readonly [K in Step['kind']]: (step: Extract<Step, { kind: K }>) => string | undefined;
};

const texts: Texts = {
  'install-packages': ({ manager, names }) => `install ${names.join(', ')} with ${manager}`,
  'make-directory': () => undefined,
  'copy-file': ({ path }) => `copy this file to ${path}`,
  'write-file': ({ path }) => `write ${path}`,
  'make-link': ({ path, target }) => `link ${path} to ${target}`,
  'load-modules': ({ names }) => `load the kernel modules ${names.join(', ')}`,
  'set-sysctl': ({ name, value }) => `set ${name} to ${value}`,
  'start-docker': ({ manager }) => `start ${dockerOf[manager]}, now and at every boot`,
  'reload-services': () => undefined,
  'enable-service': ({ manager }) => `enable ${nameOf(manager)}, so that it starts at every boot`,
  'restart-service': ({ manager }) => `start ${nameOf(manager)}`,
  'remove-service': ({ manager }) => `stop and disable ${nameOf(manager)}`,
  'remove-directory': ({ path }) => `remove ${path}`,
  reset: ({ keepData, dataDir }) =>
    keepData
      ? `remove the containers, links and rules of minik8s, and keep ${dataDir}`
      : `remove the containers, links and rules of minik8s, and all data in ${dataDir}`,
  'remove-path': ({ path }) => `remove ${path}`,
  'remove-empty-directory': () => undefined,
};
