/** Names of the suite's images, read from Kubernetes' test/utils/image/manifest.go. Pure. */

/** Registries whose images have stand-ins here, by upstream's names of them. */
const registries: Readonly<Record<string, string>> = {
  PromoterE2eRegistry: 'registry.k8s.io/e2e-test-images',
  GcRegistry: 'registry.k8s.io',
  GcEtcdRegistry: 'registry.k8s.io',
};

const entry = /^\s*configs\[\w+\] = Config\{list\.(\w+), "([^"]+)", "([^"]+)"\}/gm;

/**
 * Returns the full names of the images by their short names: `nginx` has
 * `registry.k8s.io/e2e-test-images/nginx:1.27.0-2` and a second one. The suite updates from the first to the
 * second. Images of other registries are left out. Throws if the file has no image.
 */
export function imageNames(manifest: string): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const [, registry = '', name = '', tag = ''] of manifest.matchAll(entry)) {
    const host = registries[registry];
    if (host !== undefined) names.set(name, [...(names.get(name) ?? []), `${host}/${name}:${tag}`]);
  }
  if (names.size === 0) throw new Error('manifest.go of the suite has no images: its form has changed');
  return names;
}
