"""CleanRL style: an actor-critic in plain PyTorch on Gymnasium's native vector environment."""

import os

import gymnasium
import torch

STEPS = int(os.environ.get("STEPS", 204_800))
OPTIONS = {"reward": "margin", "illegal_action": "raise", "autoreset_mode": "SAME_STEP"}
envs = gymnasium.make_vec("petrichor_env:Petrichor/Solo-v0", num_envs=64, **OPTIONS)
torch.manual_seed(0)
network = torch.nn.Sequential(torch.nn.Linear(807, 256), torch.nn.Tanh(), torch.nn.Linear(256, 1 + 143))
optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)


def value_and_policy(observations, masks):
    out = network(torch.as_tensor(observations))
    return out[:, 0], torch.distributions.Categorical(logits=out[:, 1:].masked_fill(torch.as_tensor(masks) == 0, -1e8))


observations, infos = envs.reset(seed=0)
for _ in range(-(-STEPS // 1024)):
    steps = []
    for _ in range(16):
        value, policy = value_and_policy(observations, infos["action_mask"])
        actions = policy.sample()
        observations, rewards, ended, _, infos = envs.step(actions.numpy())
        steps.append((policy.log_prob(actions), policy.entropy(), value, rewards / 10, ~ended))
    following, loss = value_and_policy(observations, infos["action_mask"])[0].detach(), 0.0
    for log_probs, entropy, value, rewards, running in reversed(steps):
        following = torch.as_tensor(rewards) + torch.as_tensor(running) * following
        gain = following - value
        loss += (0.5 * gain.square() - log_probs * gain.detach() - 0.01 * entropy).mean() / 16
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def act(observations, masks):
    return value_and_policy(observations, masks)[1].logits.argmax(1).numpy()
