import type { Equivalent } from '../equivalent.ts';

export const apiserver: readonly Equivalent[] = [
  ...[
    {
      file: 'src/kube-apiserver/authorization/node-bootstrapper.ts',
      line: "request.type === 'resource' && asks(request.user) && mayRequest(request, requesterOf);",
      change: "request.type === 'resource' && asks(request.user) → (asks(request.user))",
    },
    {
      file: 'src/kube-apiserver/authorization/node-authorizer.ts',
      line: "if (node === undefined || request.type !== 'resource') return false;",
      change: "node === undefined || request.type !== 'resource' → (node === undefined)",
    },
  ].map((mutant) => ({
    ...mutant,
    because:
      'a request for a path has no group and no resource, so that it fits no rule; the types want the check',
  })),
  ...[
    [
      'if (nodePort && isTaken(portClaim(nodePort))) {',
      'nodePort && isTaken(portClaim(nodePort)) → (isTaken(portClaim(nodePort)))',
    ],
  ].map(([line = '', change = '']) => ({
    file: 'src/kube-apiserver/claims/service-claims.ts',
    line,
    change,
    because: 'there is no claim of a port that is not there, so nobody can have it',
  })),
  {
    file: 'src/kube-apiserver/claims/service-claims.ts',
    line: 'for (let step = 0; step < size; step++) {',
    change: 'step < size → step <= size',
    because: 'after the last comes the first again, which was busy',
  },
];
