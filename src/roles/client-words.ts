/** Advice for the words after `minik8s ctl` that are no commands: kinds, and commands of other clients. */

/** Commands of other clients of containers and clusters, and what does the same here. */
const otherClients: Readonly<Record<string, string>> = {
  ps: 'minik8s ctl get pods -A lists the pods of all namespaces',
  ls: 'minik8s ctl get KIND lists objects, minik8s ctl api-resources the kinds',
  list: 'minik8s ctl get KIND lists objects, minik8s ctl api-resources the kinds',
  show: 'minik8s ctl describe KIND NAME shows an object',
  inspect:
    'minik8s ctl describe KIND NAME shows an object, minik8s ctl get KIND NAME -o yaml all of its fields',
  images: 'the node pulls images when a pod needs them; minik8s ctl get node NAME -o yaml lists those it has',
  pull: 'the node pulls images when a pod needs them',
  rm: 'minik8s ctl delete KIND NAME deletes an object',
  remove: 'minik8s ctl delete KIND NAME deletes an object',
  kill: 'minik8s ctl delete pod NAME ends a pod',
  stop: 'minik8s ctl scale deployment NAME --replicas=0 ends its pods, minik8s ctl delete pod NAME a single one',
  start: 'minik8s ctl apply -f FILE creates objects, minik8s ctl run NAME --image IMAGE a pod',
  check: 'minik8s doctor finds what keeps the cluster from working, and how to mend it',
  diagnose: 'minik8s doctor finds what keeps the cluster from working, and how to mend it',
  doctor: 'minik8s doctor is a command of its own, without ctl',
  up: 'minik8s up starts a cluster on this machine',
  info: 'minik8s ctl get nodes shows the state of the nodes, minik8s ctl version the versions',
};

/** Returns advice for such a word and the words after it; undefined for any other word. */
export async function adviceOnWord(word: string, rest: readonly string[]): Promise<string | undefined> {
  if (Object.hasOwn(otherClients, word)) return otherClients[word];
  const { registry } = await import('../features/kinds.ts');
  const wanted = word.toLowerCase();
  const isKind = registry.some(
    ({ kind, plural, shortNames, isReview }) =>
      !isReview && [plural, kind.toLowerCase(), ...shortNames].includes(wanted),
  );
  return isKind
    ? `${word} is a kind of object: did you mean minik8s ctl ${['get', word, ...rest].join(' ')}?`
    : undefined;
}
