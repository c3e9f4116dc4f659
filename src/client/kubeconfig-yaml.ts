/** The YAML package, for kubeconfigs that are not in the usual form (plain-yaml.ts), and to write them. */
export { parse, stringify } from 'yaml';
