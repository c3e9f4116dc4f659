/**
 * The names of commands in messages and help when the client is called through a link with the name kubectl:
 * `kubectl get` in place of `minik8s ctl get` or `ctl get`.
 */

/**
 * Returns a function that writes `kubectl` for `minik8s ctl` everywhere in a text, and for `ctl` before the
 * name of a command. Sentences about the client, such as `ctl has no …`, keep its name.
 */
export function namedKubectl(commands: readonly string[]): (text: string) => string {
  const short = new RegExp(`(?<![\\w./-])ctl (?=(?:${commands.join('|')})(?![\\w-]))`, 'g');
  return (text) => text.replaceAll('minik8s ctl', 'kubectl').replaceAll(short, 'kubectl ');
}
