/**
 * Command lines for which kubectl-parity.test.ts compares the exit status and the standard output with
 * kubectl's: those whose messages are in ctl's own words. Each can run twice with the same result.
 */
export const outputs: readonly (readonly string[])[] = [
  // A variable of a script that is not set must not choose all namespaces.
  ['get', 'configmaps', '-n', ''],
  ['get', 'configmaps', '--namespace=', '-o', 'name'],
  ['delete', 'configmaps', '--all', '-n', '', '--dry-run=client'],
  ['create', 'configmap', 'made', '-n', '', '--dry-run=client', '-o', 'yaml'],
  ['get', 'configmaps', '-n', 'a/b'],
  ['get', 'configmaps', '-n', '..'],
  // Booleans as Go reads them, behind short flags too.
  ['get', 'configmaps', '-A=false', '-o', 'name'],
  ['get', 'configmaps', '-A=0', '-o', 'name'],
  ['get', 'configmaps', '--no-headers=T'],
  ['get', 'configmaps', '--no-headers=F'],
  ['get', 'deploy', '--show-labels=1'],
  ['get', 'deploy', '--show-labels=maybe'],
  ['rollout', 'status', 'deploy', 'web', '-w=0'],
  // Flags that may be written without a value.
  ['create', 'configmap', 'made', '--dry-run', '-o', 'yaml'],
  ['run', 'x', '--image=a:1', '--dry-run', '-o', 'name'],
  ['run', '--dry-run', 'x', '--image=a:1', '-o', 'name'],
  ['run', 'x', '--image=a:1', '-o', 'name', '--dry-run'],
  ['run', 'x', '--image=a:1', '-o', 'name', '--dry-run=true'],
  ['create', 'configmap', 'made', '--validate', '--dry-run=server', '-o', 'name'],
  ['create', 'configmap', 'made', '--validate=0', '--dry-run=server', '-o', 'name'],
  ['delete', 'deploy', 'web', '--cascade', '--dry-run=server', '-o', 'name'],
  ['delete', 'deploy', 'web', '--cascade=false', '--dry-run=server', '-o', 'name'],
  // Names of formats in capitals.
  ['get', 'configmaps', '-o', 'NAME'],
  ['get', 'configmap', 'settings', '-o', 'Yaml'],
  ['get', 'configmap', 'settings', '-o', 'JSON'],
  ['create', 'configmap', 'made', '--dry-run=client', '-o', 'JSON'],
  ['get', 'deploy', '-o', 'WIDE'],
  ['get', 'configmaps', '-w', '--request-timeout=1s', '-o', 'name'],
  // Labels, annotations and patches that change nothing, or cannot.
  ['label', 'deploy', 'web', 'absent-'],
  ['label', 'deploy', 'web', 'absent-', 'away-', '--dry-run=client'],
  ['label', 'cm', 'settings', 'x=1', 'x-'],
  ['annotate', 'cm', 'settings', 'absent-'],
  ['annotate', 'cm', 'settings', 'x-', 'x=1'],
  ['patch', 'cm', 'settings', '-p', '{}', '--patch-file=/dev/null'],
  [
    'patch',
    'deploy',
    'web',
    '--subresource=scale',
    '--type=merge',
    '-p',
    '{"spec":{"replicas":4}}',
    '-o',
    'name',
  ],
  ['scale', 'deploy', '-l', 'no=such', '--replicas=1'],
  ['set', 'selector', 'svc', 'web', 'app=web'],
  ['set', 'serviceaccount', 'deploy', 'web', 'robot'],
  ['delete', 'cm', 'settings', '-o', 'yaml'],
  ['delete', 'cm', '--all', '-l', 'no=such'],
  ['delete', 'cm', 'settings', '--grace-period=0', '--dry-run=server'],
  // Answers that kubectl reads into Go's types: the order of their fields, and fields that Go always shows.
  ['set', 'env', 'deploy', 'web', 'A=b', '--dry-run=server', '-o', 'json'],
  ['set', 'env', 'deploy', 'web', 'A=b', '--dry-run=client', '-o', 'yaml'],
  ['set', 'env', 'deploy', 'web'],
  ['auth', 'whoami', '-o', 'json'],
  // Several documents of YAML, which not all commands of kubectl separate.
  ['label', 'deploy/web', 'cm/settings', 'p=q', '--overwrite', '--dry-run=server', '-o', 'yaml'],
  ['scale', 'deploy/web', 'deploy/web', '--replicas=4', '-o', 'yaml'],
  // Exit status 1 of diff means that objects differ.
  ['diff'],
  ['get', 'all', 'web'],
  // A type alone is all its objects.
  ['rollout', 'status', 'deploy', '--watch=false'],
  ['rollout', 'status', 'deploy', '-l', 'no=such'],
  ['rollout', 'history', 'deploy'],
  ['rollout', 'restart', 'deploy', '-l', 'no=such'],
  ['rollout', 'undo', 'daemonsets'],
  ['rollout', 'restart'],
  // Words and values that no object can have.
  ['create', 'deployment', 'one', 'two', '--image=a:1', '--dry-run=client'],
  ['create', 'cronjob', 'one', 'two', '--image=a:1', '--schedule=@daily', '--dry-run=client'],
  ['create', 'deployment', 'one', '--image=a:1', '--dry-run=client', '-o', 'yaml', '--', 'two', '-c'],
  ['run', 'x', '--image=bad image'],
  ['run', 'x', '--image=a:1', '--env=EMPTY=', '--env=FULL=1', '--dry-run=client', '-o', 'yaml'],
  ['autoscale', 'deploy', 'web', '--max=5', '--dry-run=client', '-o', 'yaml'],
  ['autoscale', 'deploy', 'web', '--min=2', '--max=5', '--cpu-percent=60', '--dry-run=client', '-o', 'json'],
  ['autoscale', 'deploy', 'web', '--max=5', '--save-config', '--dry-run=client', '-o', 'yaml'],
];
