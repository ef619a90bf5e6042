import { isOldParser, parserProblem } from '../../http/node-parser.ts';
import { about, type Finding } from './finding.ts';

const { ok, warning } = about('node');

/** Whether this Node's own parts are safe to serve with. */
export function checkNode(isOld = isOldParser): Finding {
  const problem = parserProblem(isOld);
  return problem === undefined
    ? ok(process.version)
    : warning(problem, 'update Node, then start the gateway again');
}
