/** An agent has exited; the command exits with the same code. */
export class AgentExit extends Error {
  override readonly name = 'AgentExit';
  readonly code: number;

  constructor(code: number) {
    super(`the agent ended with ${code}`);
    this.code = code;
  }
}
