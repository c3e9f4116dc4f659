/**
 * The client under the name kubectl, a link to the executable. Messages and help name its commands
 * `minik8s ctl get` or `ctl get`; this module gives them the name that was typed.
 */

/**
 * Returns a function that replaces the name of the client in a text, where one of the commands follows, and
 * everywhere in its long form. Sentences about the client, such as `ctl has no …`, keep its name.
 */
export function namedKubectl(commands: readonly string[]): (text: string) => string {
  const short = new RegExp(`(?<![\\w./-])ctl (?=(?:${commands.join('|')})(?![\\w-]))`, 'g');
  return (text) => text.replaceAll('minik8s ctl', 'kubectl').replaceAll(short, 'kubectl ');
}
