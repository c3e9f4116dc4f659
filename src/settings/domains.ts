/** Readers of settings about DNS names. Each reads a text and throws an Error that says what is expected. */
import { checkDns1123Subdomain } from '../apimachinery/names.ts';

/** Reads a domain such as `cluster.local`; returns it in lower case. */
export function domain(value: string): string {
  const name = value.replace(/\.$/, '').toLowerCase();
  const labels = name.split('.');
  if (checkDns1123Subdomain(name).length > 0 || labels.some((label) => label.length > 63)) {
    throw new Error('expected a domain such as cluster.local');
  }
  return name;
}

/** Reads domains such as `apps.example.com,test`; returns them in lower case. */
export function domains(value: string): readonly string[] {
  const all = value.split(',').filter((part) => part.trim() !== '');
  if (all.length === 0) throw new Error('expected domains such as apps.example.com,test');
  return all.map((part) => domain(part.trim()));
}
