// Scenes that show what colour can do, for tests of it.
#pragma once

namespace gripstream {

// A sky, a cube texture, highlights, glow; a spot light and a directional one.
inline constexpr const char* kMaterials = R"(<mujoco>
  <asset><texture name="sky" type="skybox" builtin="gradient" rgb1="1 .2 .2" rgb2="0 .1 .3" width="64" height="64"/>
    <texture name="checks" type="cube" builtin="checker" rgb1=".2 .8 .2" rgb2=".1 .1 .4" width="64" height="64"/>
    <material name="cube" texture="checks"/><material name="shiny" specular="1" shininess=".3" rgba=".5 .5 .2 1"/>
    <material name="glow" emission=".6" rgba=".9 .3 .3 1"/></asset>
  <worldbody><light pos="1 -1 3" dir="-.3 .3 -1" attenuation="1 .05 .02"/>
    <light pos="-2 -2 3" dir="2 2 -3" directional="true" diffuse=".3 .3 .3"/>
    <camera name="c" pos="0 -2 1.2" xyaxes="1 0 0 0 .5 .86" fovy="50"/>
    <geom type="plane" size="2 2 .1"/><geom type="sphere" size=".2" pos=".6 0 .3" material="shiny"/>
    <geom type="box" size=".15 .2 .25" pos="0 0 .3" material="cube" euler="0 20 30"/>
    <geom type="capsule" size=".1 .2" pos="-.6 .3 .3" material="glow" euler="0 30 0"/></worldbody></mujoco>)";

// Three translucent geoms before one another, out of order, and one that is hidden.
inline constexpr const char* kTranslucent = R"(<mujoco><asset><material name="flat" specular="0"/></asset><worldbody>
  <light pos="0 -1 3" dir="0 .3 -1" specular="0 0 0" castshadow="false"/>
  <camera name="c" pos="0 -2 1.2" xyaxes="1 0 0 0 .5 .86" fovy="50"/>
  <geom type="plane" size="2 2 .1" rgba=".6 .6 .6 1" material="flat"/>
  <geom type="box" size=".2 .05 .2" pos=".1 -.5 .3" rgba="1 0 0 .5" material="flat"/>
  <geom type="sphere" size=".25" pos="-.1 .2 .3" rgba="0 1 0 .3" material="flat"/>
  <geom type="capsule" size=".15 .2" pos=".2 -.2 .3" rgba="0 0 1 .7" material="flat"/>
  <geom type="box" size=".1 .1 .1" pos="-.5 0 .1" rgba=".9 .8 .1 1" material="flat"/>
  <geom type="sphere" size=".05" pos="-.5 0 .1" rgba="1 1 1 .5" material="flat"/></worldbody></mujoco>)";

// A card with texture coordinates and a smooth ball.
inline constexpr const char* kMeshes = R"(<mujoco><asset>
  <texture name="t" type="2d" builtin="checker" rgb1=".9 .8 .2" rgb2=".1 .1 .4" width="64" height="64"/>
  <material name="t" texture="t" texrepeat="3 2" specular="0"/>
  <mesh name="card" vertex="-.3 0 0 .3 0 0 .3 0 .6 -.3 0 .6 0 .2 .3" texcoord="0 0 1 0 1 1 0 1 .5 .5"
        face="0 1 2 0 2 3 1 0 4 2 1 4 3 2 4 0 3 4"/>
  <mesh name="ball" builtin="sphere" params="4" scale=".3 .3 .3"/></asset>
  <worldbody><light pos="1 -1 3" dir="-.3 .3 -1"/>
  <camera name="c" pos="0 -1.5 .9" xyaxes="1 0 0 0 .35 .93" fovy="60"/><geom type="plane" size="2 2 .1"/>
  <geom type="mesh" mesh="card" material="t" pos="-.5 0 .4"/>
  <geom type="mesh" mesh="ball" rgba=".3 .8 .3 1" pos=".5 0 .5"/></worldbody></mujoco>)";

}  // namespace gripstream
